// The editor of the configuration: TOML with completion, and mistakes at their place.
import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { bracketMatching, HighlightStyle, StreamLanguage, syntaxHighlighting } from "@codemirror/language";
import { toml } from "@codemirror/legacy-modes/mode/toml";
import { lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { Annotation, EditorState, Transaction } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { TEXT_MAX } from "./link.js";


// Colours of the report, which has a light and a dark theme.
const COLOURS = HighlightStyle.define([
  { tag: tags.comment, color: "var(--soft)", fontStyle: "italic" },
  { tag: tags.string, color: "var(--c)" },
  { tag: [tags.number, tags.atom, tags.bool], color: "var(--b)" },
  { tag: [tags.propertyName, tags.variableName], color: "var(--a)" },
  { tag: tags.bracket, color: "var(--d)" },
]);

const byPage = Annotation.define();

/** Creates the editor. `onEdit` is called after changes of the user, `onRefused` with the length of a text that is too long. */
export function createEditor({ parent, labelledBy, complete, onEdit, onRefused }) {
  const refuse = EditorState.transactionFilter.of((transaction) => {
    if (!transaction.docChanged || transaction.newDoc.length <= TEXT_MAX) return transaction;
    onRefused(transaction.newDoc.length);
    return [];
  });
  const notify = EditorView.updateListener.of((update) => {
    if (update.docChanged && !update.transactions.some((transaction) => transaction.annotation(byPage))) onEdit();
  });
  const extensions = [
    lineNumbers(),
    lintGutter(),
    history(),
    drawSelection(),
    bracketMatching(),
    closeBrackets(),
    highlightActiveLine(),
    StreamLanguage.define(toml),
    syntaxHighlighting(COLOURS),
    autocompletion({ override: [complete] }),
    keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...historyKeymap, ...completionKeymap, ...lintKeymap]),
    EditorView.lineWrapping,
    EditorView.contentAttributes.of({ "aria-labelledby": labelledBy, spellcheck: "false", autocapitalize: "off" }),
    scrollInside,
    refuse,
    notify,
  ];
  return new EditorView({ parent, state: EditorState.create({ extensions }) });
}

/** Returns the text of the editor. */
export const textOf = (view) => view.state.doc.toString();

/**
 * Replaces the text, without a call of `onEdit`. Only the part that differs changes, so that cursor and history stay.
 * The first text cannot be undone.
 */
export function replaceText(view, text, { isFirst = false } = {}) {
  const old = textOf(view);
  let from = 0;
  while (from < Math.min(old.length, text.length) && old[from] === text[from]) from++;
  let [end, until] = [old.length, text.length];
  while (end > from && until > from && old[end - 1] === text[until - 1]) [end, until] = [end - 1, until - 1];
  view.dispatch({ changes: { from, to: end, insert: text.slice(from, until) }, annotations: [byPage.of(true), Transaction.addToHistory.of(!isFirst)] });
}

/** Marks a mistake at its place; null removes all marks. */
export function markProblem(view, problem) {
  const found = problem?.line ? [diagnostic(view.state.doc, problem)] : [];
  view.dispatch(setDiagnostics(view.state, found));
}

function diagnostic(doc, { line, column, code, key, text, nearest, fix }) {
  const { from, to, text: words } = doc.line(Math.min(line, doc.lines));
  const start = from + units(words, (column ?? 1) - 1);
  const marked = /^[\w.-]+/.exec(words.slice(start - from))?.[0] ?? "";
  const end = marked ? start + marked.length : to;
  const last = marked.split(".").pop();
  const actions = nearest && last && key.endsWith(last) ? [proposal(nearest, last.length)] : [];
  return { from: Math.min(start, to), to: end, severity: "error", source: code, message: `${text}\n${fix}`, actions };
}

function proposal(nearest, length) {
  const apply = (view, from, to) => view.dispatch({ changes: { from: to - length, to, insert: nearest } });
  return { name: `Change to “${nearest}”`, apply };
}

// Columns count bytes of UTF-8, and the editor counts units of UTF-16.
function units(words, bytes) {
  return new TextDecoder().decode(new TextEncoder().encode(words).slice(0, bytes)).length;
}

/** Shows the text from its first line that is no comment. */
export function showStart(view) {
  const { doc } = view.state;
  let number = 1;
  while (number < doc.lines && /^\s*(#|$)/.test(doc.line(number).text)) number++;
  view.dispatch({ effects: EditorView.scrollIntoView(doc.line(number).from, { y: "start" }) });
}

// What moves to the start of the editor moves in it alone, and the page around it stays.
const scrollInside = EditorView.scrollHandler.of((view, range, { y }) => {
  if (y !== "start") return false;
  view.scrollDOM.scrollTop = view.lineBlockAt(range.head).top;
  return true;
});

/** Moves the cursor to a mistake. */
export function goTo(view, { line, column }) {
  const { from, to, text } = view.state.doc.line(Math.min(line, view.state.doc.lines));
  const anchor = Math.min(from + units(text, (column ?? 1) - 1), to);
  view.dispatch({ selection: { anchor }, scrollIntoView: true });
  view.focus();
}
