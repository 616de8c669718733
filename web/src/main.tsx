import { render } from "preact";
render(<p>Sibyl</p>, document.getElementById("page")!);
