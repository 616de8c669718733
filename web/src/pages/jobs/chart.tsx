import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";

import { formatFigure } from "../../logic/format";
import type { CurvePoint } from "../../logic/job_events";
import { kThemeEvent } from "../../theme";

const kHeight = 200;

/** Canvas knows no custom properties: colours are read when it is drawn, and again on a change. */
function useColourTurn(): number {
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    const change = (): void => setTurn((count) => count + 1);
    const media = matchMedia("(prefers-color-scheme: dark)");
    media.addEventListener("change", change);
    window.addEventListener(kThemeEvent, change);
    return () => {
      media.removeEventListener("change", change);
      window.removeEventListener(kThemeEvent, change);
    };
  }, []);
  return turn;
}

/** The computed colour of a custom property: light-dark() is resolved by the browser, not by us. */
function resolved(name: string): string {
  const probe = document.createElement("span");
  probe.style.color = `var(${name})`;
  document.body.append(probe);
  const colour = getComputedStyle(probe).color;
  probe.remove();
  return colour;
}

function optionsOf(width: number, axis: string, colour: string, dots: boolean): uPlot.Options {
  const line = resolved("--line");
  const quiet = resolved("--quiet");
  const stroke = resolved(colour);
  const font = "12px system-ui, sans-serif";
  const values = (_: uPlot, splits: number[]): string[] =>
    splits.map((split) => formatFigure(split));
  return {
    width,
    height: kHeight,
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false } },
    scales: { x: { time: false } },
    axes: [
      {
        stroke: quiet,
        font,
        values,
        label: axis,
        labelFont: font,
        labelSize: 18,
        size: 28,
        grid: { show: false },
        ticks: { show: false },
      },
      {
        stroke: quiet,
        font,
        values,
        size: 52,
        grid: { stroke: line, width: 1 },
        ticks: { show: false },
      },
    ],
    series: [{}, { stroke, width: 2, points: { show: dots, size: 7, fill: stroke } }],
  };
}

export function Chart(props: {
  points: CurvePoint[];
  axis: string;
  colour: string;
  dots: boolean;
  label: string;
}): JSX.Element {
  const { points, axis, colour, dots } = props;
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const turn = useColourTurn();
  const data: uPlot.AlignedData = [
    points.map((point) => point.at),
    points.map((point) => point.value),
  ];
  const latest = useRef(data);
  latest.current = data;

  useEffect(() => {
    const place = box.current;
    if (place === null) {
      return undefined;
    }
    const chart = new uPlot(
      optionsOf(place.clientWidth || 300, axis, colour, dots),
      latest.current,
      place,
    );
    plot.current = chart;
    const observer = new ResizeObserver(() => {
      chart.setSize({ width: place.clientWidth || 300, height: kHeight });
    });
    observer.observe(place);
    return () => {
      observer.disconnect();
      chart.destroy();
      plot.current = null;
    };
  }, [axis, colour, dots, turn]);

  useEffect(() => plot.current?.setData(latest.current), [points]);

  return <div class="chart" ref={box} role="img" aria-label={props.label} />;
}
