import { render } from "preact";

import "./styles/base.css";
import "./styles/layout.css";
import "./styles/parts.css";
import "./styles/ask.css";
import "./styles/jobs.css";

import { App } from "./app";
import { applyTheme, storedTheme } from "./theme";

applyTheme(storedTheme());
const place = document.getElementById("page");
if (place !== null) {
  render(<App />, place);
}
