/// The appearance of pages: light, dark and on paper.
package enum PageStyle {
    /// The only style sheet of a page.
    package static let css: HTML = """
        :root { color-scheme: light dark; --ink: #1b1f24; --quiet: #59636e; --paper: #ffffff;
          --card: #f4f6f8; --line: #d1d9e0; --full: #5b7fa6; --grace: #9db4cc;
          --gained: #1f883d; --lost: #cf222e; --asked: #9a6700;
          --series-0: #2f6db0; --series-1: #b3541e; --series-2: #1f883d; --series-3: #8250df;
          --series-4: #9a6700; --series-5: #bf3989;
          --series-6: #0a7f8c; --series-7: #3f4650; }
        @media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --quiet: #9198a1;
          --paper: #0d1117; --card: #161b22; --line: #30363d; --full: #4f78a8; --grace: #33506f;
          --gained: #3fb950; --lost: #f85149; --asked: #d29922;
          --series-0: #6cb0f5; --series-1: #f0883e; --series-2: #3fb950; --series-3: #b98cff;
          --series-4: #d8b23c; --series-5: #f778ba;
          --series-6: #39c5cf; --series-7: #c2cad3; } }
        * { box-sizing: border-box; }
        body { margin: 0; background: var(--paper); color: var(--ink);
          font: 15px/1.45 system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; }
        main { max-width: 1000px; margin: 0 auto; padding: 24px 20px 48px; }
        h1 { font-size: 24px; margin: 0 0 4px; } h2 { font-size: 18px; margin: 32px 0 10px; }
        h3 { font-size: 15px; margin: 0 0 6px; } h4 { font-size: 13px; margin: 0 0 2px; }
        small, .quiet, .verdict, .legend { color: var(--quiet); }
        h3 small { font-weight: normal; margin-left: 6px; }
        .subject { display: grid; grid-template-columns: max-content 1fr; gap: 2px 14px;
          margin: 12px 0 0; font-size: 13px; } .subject dt { color: var(--quiet); }
        .subject dd { margin: 0; grid-column: 2; overflow-wrap: anywhere; }
        .scroll { overflow-x: auto; } .next code { white-space: normal; overflow-wrap: anywhere; }
        .effects { margin: 0 0 6px; padding: 0; list-style: none; font-size: 13px; }
        .next { margin: 10px 0 0; font-size: 13px; color: var(--quiet); }
        .cards { display: flex; flex-wrap: wrap; gap: 12px; margin: 16px 0 0; }
        .card { background: var(--card); border: 1px solid var(--line); border-radius: 8px;
          padding: 10px 14px; min-width: 150px; }
        .card h3 { font-size: 12px; font-weight: normal; color: var(--quiet); }
        .card b { font-size: 19px; font-variant-numeric: tabular-nums; }
        table { border-collapse: collapse; width: 100%; font-size: 13px; }
        th, td { text-align: left; vertical-align: top; padding: 4px 10px 4px 0; }
        thead th { color: var(--quiet); font-weight: normal; border-bottom: 1px solid var(--line); }
        table.money { width: auto; } .money tbody th { font-weight: normal; }
        tbody tr.first > *, article tbody tr > * { border-top: 1px solid var(--line); }
        td { overflow-wrap: anywhere; } .number { text-align: right; padding-right: 24px;
          white-space: nowrap;
          font-variant-numeric: tabular-nums; }
        article tbody th { font-weight: 600; width: 22%; } article td { width: 39%; }
        article th small { font-weight: normal; }
        article { border: 1px solid var(--line); border-radius: 8px; padding: 14px 16px;
          margin: 0 0 16px; break-inside: avoid; }
        svg { display: block; width: 100%; height: auto; margin: 4px 0 8px; }
        .sides { display: flex; flex-wrap: wrap; gap: 20px; margin-top: 10px; font-size: 13px; }
        .sides section { flex: 1 1 300px; border-top: 1px solid var(--line); padding-top: 8px; }
        .sides p { margin: 0 0 4px; } .events { margin: 0; padding: 0; list-style: none; }
        .events li { margin: 0 0 4px; } code { font-size: 12px; white-space: nowrap; }
        .gained-text { color: var(--gained); fill: var(--gained); }
        .lost-text { color: var(--lost); fill: var(--lost); }
        svg text { font-size: 12px; fill: var(--ink); } svg .axis { fill: var(--quiet); }
        svg .gained-text { fill: var(--gained); } svg .lost-text { fill: var(--lost); }
        .tick { stroke: var(--line); stroke-width: 1; }
        .none { stroke: var(--line); stroke-width: 2; stroke-dasharray: 2 4; }
        .asked { stroke: var(--asked); stroke-width: 1.5; stroke-dasharray: 4 3; }
        rect.full { fill: var(--full); stroke: var(--paper); stroke-width: 1; }
        rect.grace { fill: var(--grace); stroke: var(--paper); stroke-width: 1; }
        rect.hatch { fill: url(#hatch); } rect.gained { fill: var(--gained); }
        rect.lost { fill: var(--lost); }
        .series-0 { stroke: var(--series-0); fill: var(--series-0); }
        .series-1 { stroke: var(--series-1); fill: var(--series-1); }
        .series-2 { stroke: var(--series-2); fill: var(--series-2); }
        .series-3 { stroke: var(--series-3); fill: var(--series-3); }
        .series-4 { stroke: var(--series-4); fill: var(--series-4); }
        .series-5 { stroke: var(--series-5); fill: var(--series-5); }
        .series-6 { stroke: var(--series-6); fill: var(--series-6); }
        .series-7 { stroke: var(--series-7); fill: var(--series-7); }
        .series-rest { stroke: var(--quiet); fill: var(--quiet); }
        .line { fill: none; stroke-width: 2; stroke-linejoin: round; }
        .line.dashed { stroke-dasharray: 7 4; } .line.series-rest { stroke-dasharray: 2 3; }
        .partial { fill: var(--paper); stroke-width: 1.5; } .key-line { stroke: var(--ink); }
        .cell { fill: var(--series-0); stroke: var(--line); stroke-width: 1; }
        .hollow { fill: none; stroke: var(--series-0); stroke-dasharray: 3 2; }
        svg .number { font-size: 9px; } .thin { stroke: none; }
        .zero { stroke: var(--quiet); }
        .area { stroke: none; fill-opacity: 0.14; } rect.bar { fill: var(--series-0); }
        .definition { max-width: 75ch; margin: 6px 0 0; } .figure { break-inside: avoid; }
        .figure h2 { font-size: 15px; margin: 26px 0 8px; }
        .figure .quiet, .figure + .quiet { font-size: 13px; margin: 0 0 12px; }
        .series { display: flex; flex-wrap: wrap; gap: 2px 18px; margin: 0 0 12px; padding: 0;
          list-style: none; font-size: 13px; } .series svg { display: inline-block; width: 34px;
          height: 12px; margin: 0 6px 0 0; vertical-align: -1px; }
        .report tbody tr > * { border-top: 1px solid var(--line); } thead { display: table-header-group; }
        .report tr { break-inside: avoid; } .report th.number, .report td.number { padding-right: 12px; }
        .report th.number { white-space: normal; } .report td.text { min-width: 8em; }
        .hatch-line { stroke: var(--ink); stroke-width: 1.5; stroke-opacity: 0.55; }
        .patterns { position: absolute; width: 0; height: 0; }
        .key { display: inline-block; width: 22px; height: 11px; margin: 0 4px 0 14px; }
        .key.full { background: var(--full); margin-left: 0; } .key.gained { background: var(--gained); }
        .key.lost { background: var(--lost); }
        .key.grace { background: repeating-linear-gradient(135deg, var(--grace) 0 3px,
          var(--quiet) 3px 4px); }
        .key.asked { width: 0; border-left: 2px dashed var(--asked); }
        @media screen and (max-width: 600px) { main { padding: 16px 12px 32px; }
          th, td { padding-right: 6px; } .number { padding-right: 6px; }
          .kinds { font-size: 12px; } .kinds td { overflow-wrap: normal; }
          .figure { overflow-x: auto; } .figure > svg { min-width: 720px; }
          .picture svg { min-width: 640px; } .rows thead { display: none; }
          .rows tr, .rows th, .rows td { display: block; width: auto; padding-right: 0; }
          .rows tbody tr > * { border-top: 0; }
          .rows tbody tr > :first-child { border-top: 1px solid var(--line); }
          .rows td::before { color: var(--quiet); content: "new "; }
          .rows th + td::before { content: "old "; } }
        @media print { :root { color-scheme: light; --ink: #000; --quiet: #444; --paper: #fff;
          --card: #fff; --line: #bbb; --full: #5b7fa6; --grace: #9db4cc; --gained: #1f883d;
          --lost: #cf222e; --asked: #9a6700;
          --series-0: #2f6db0; --series-1: #b3541e; --series-2: #1f883d; --series-3: #8250df;
          --series-4: #9a6700; --series-5: #bf3989;
          --series-6: #0a7f8c; --series-7: #3f4650; }
          main { max-width: none; padding: 0; }
          * { print-color-adjust: exact; -webkit-print-color-adjust: exact; } }
        """

    /// The patterns that the pictures refer to.
    package static let patterns: HTML = """
        <svg class="patterns" aria-hidden="true"><defs>
        <pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" \
        patternTransform="rotate(45)"><line class="hatch-line" x1="0" y1="0" x2="0" y2="6"/></pattern>
        </defs></svg>
        """

    /// A page as one self-contained file: to read, to print, to file.
    ///
    /// - Parameters:
    ///   - title: Its title.
    ///   - body: What is in its body.
    /// - Returns: The whole page.
    static func file(_ title: String, _ body: HTML) -> HTML {
        """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8"/>
        <meta name="viewport" content="width=device-width, initial-scale=1"/>
        <meta http-equiv="Content-Security-Policy" \
        content="default-src 'none'; style-src 'unsafe-inline'"/>
        <title>\(title)</title>
        <style>\(css)</style>
        </head>
        <body>
        \(body)
        </body>
        </html>
        """
    }
}
