"""The style sheet of the report: system fonts, light and dark, phone and print."""

STYLE = """\
:root {
  color-scheme: light dark;
  --paper: #ffffff; --ink: #1f2328; --soft: #59636e; --rule: #d9dee3; --tint: #f5f7f9; --accent: #0b5cad;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #14181d; --ink: #e3e7eb; --soft: #9aa4ae; --rule: #323a43; --tint: #1c2229; --accent: #7db7f5;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; scroll-padding-top: 1rem; }
body {
  margin: 0 auto; padding: 2.5rem 1.25rem 3rem; max-width: 60rem; background: var(--paper); color: var(--ink);
  font: 1rem/1.6 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
  overflow-wrap: break-word;
}
h1, h2 { line-height: 1.25; letter-spacing: -0.012em; text-wrap: balance; }
h1 { font-size: clamp(1.6rem, 5vw, 2.2rem); margin: 0 0 0.75rem; }
h2 { font-size: 1.3rem; margin: 0 0 0.6rem; }
p { margin: 0 0 0.9rem; max-width: 42rem; }
a { color: var(--accent); text-underline-offset: 0.15em; text-decoration-thickness: from-font; }
.summary { font-size: 1.08rem; color: var(--soft); }
nav { margin: 1.5rem 0 0; padding: 0.9rem 1.1rem; background: var(--tint); border-radius: 8px; }
nav .label { margin: 0 0 0.3rem; font-size: 0.8rem; font-weight: 600; color: var(--soft); }
nav ol { margin: 0; padding-left: 1.4rem; }
nav li { padding: 0.15rem 0; }
nav li::marker { color: var(--soft); }
section { margin-top: 2.6rem; padding-top: 1.6rem; border-top: 1px solid var(--rule); }
figure { margin: 1.4rem 0; }
.card { background: #ffffff; border: 1px solid var(--rule); border-radius: 8px; padding: 0.75rem; overflow-x: auto; }
.card img { display: block; margin: 0 auto; max-width: 100%; height: auto; }
figcaption, caption { font-size: 0.9rem; line-height: 1.45; color: var(--soft); text-align: left; }
figcaption { margin-top: 0.5rem; max-width: 42rem; }
caption { padding: 0.6rem 0.75rem; }
.table { margin: 1.4rem 0; overflow: auto; max-height: 85vh; border: 1px solid var(--rule); border-radius: 8px; }
.card:focus-visible, .table:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
table { border-collapse: separate; border-spacing: 0; width: 100%; font-size: 0.9rem; line-height: 1.4; }
th, td {
  padding: 0.45rem 0.75rem; text-align: left; vertical-align: top; white-space: nowrap;
  border-bottom: 1px solid var(--rule);
}
thead th {
  position: sticky; top: 0; z-index: 1; background: var(--tint);
  font-weight: 600; white-space: normal; vertical-align: bottom;
}
tbody tr:last-child td { border-bottom: 0; }
.number { text-align: right; font-variant-numeric: tabular-nums; }
.text { white-space: normal; min-width: 8rem; }
.note { white-space: normal; min-width: 14rem; color: var(--soft); }
thead .note { color: inherit; }
footer { margin-top: 3rem; padding-top: 1rem; border-top: 1px solid var(--rule); }
footer p { font-size: 0.85rem; color: var(--soft); }
@media (max-width: 36rem) {
  body { padding: 1.5rem 1rem 2rem; }
  .card { padding: 0.4rem; margin: 0 -0.5rem; }
  .wide img { min-width: 36rem; }  /* to be swiped: smaller, its text could not be read */
  th, td { padding: 0.4rem 0.6rem; }
}
@media print {
  :root { --paper: #fff; --ink: #000; --soft: #444; --rule: #ccc; --tint: #fff; --accent: #000; color-scheme: light; }
  body { max-width: none; padding: 0; font-size: 10pt; }
  nav { display: none; }
  h2 { break-after: avoid; }
  figure, tr { break-inside: avoid; }
  .card { border: 0; padding: 0; overflow: visible; }
  .wide img { min-width: 0; }
  .table { max-height: none; overflow: visible; border: 0; }
  thead th { position: static; }
  th, td { white-space: normal; padding: 0.2rem 0.4rem; }
}
"""
