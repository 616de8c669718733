import type { ComponentChildren, JSX } from "preact";

/** A labelled input with a hint, or with what is wrong in its place. `children` takes the two ids. */
export function Field(props: {
  id: string;
  label: string;
  hint?: string;
  error?: string | undefined;
  children: (wiring: {
    id: string;
    "aria-describedby": string | undefined;
    "aria-invalid": boolean;
  }) => ComponentChildren;
}): JSX.Element {
  const { id, error } = props;
  const said = error ?? props.hint;
  const hintId = `${id}-hint`;
  return (
    <div class="field">
      <label for={id}>{props.label}</label>
      {props.children({
        id,
        "aria-describedby": said === undefined ? undefined : hintId,
        "aria-invalid": error !== undefined,
      })}
      {said !== undefined && (
        <small id={hintId} class={error === undefined ? "" : "field-error"}>
          {said}
        </small>
      )}
    </div>
  );
}
