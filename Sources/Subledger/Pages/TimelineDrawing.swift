package import Events
package import Projections

/// Draws spans of time over one axis, as the parts of an SVG that refers only to the patterns of
/// its page.
///
/// Nothing depends on colour alone: a mark has a sign or a pattern, and every span has a title.
package struct TimelineDrawing {
    /// The axis.
    package let axis: TimelineAxis
    /// Where the axis begins, right of the names.
    package let left: Int
    /// The height of the drawing.
    package let height: Int

    /// The width of the axis.
    package static let columns = 860
    /// The height of a bar.
    package static let barHeight = 22
    /// An upper estimate of the width of a character of a label.
    package static let characterWidth = 8
    private static let tickColumns = 56
    private static let right = 18

    /// A drawing with room for names of `left` points.
    ///
    /// - Parameters:
    ///   - intervals: What must be visible.
    ///   - asked: The instant asked about, which is always visible.
    ///   - left: Where the axis begins.
    ///   - height: The height.
    package init(showing intervals: [Range<Instant>], asked: Instant, left: Int, height: Int) {
        axis = TimelineAxis(
            showing: intervals,
            asked: asked,
            columns: TimelineDrawing.columns,
            tickColumns: TimelineDrawing.tickColumns
        )
        self.left = left
        self.height = height
    }

    /// Where the axis ends.
    package var end: Int { left + TimelineDrawing.columns }

    /// The markup of a picture with these parts; those of an interactive one can be reached by
    /// keyboard and screen reader.
    package func svg(
        _ description: String,
        _ parts: [HTML],
        isInteractive: Bool = false
    ) -> HTML {
        """
        <svg viewBox="0 0 \(end + TimelineDrawing.right) \(height)" \
        role="\(isInteractive ? "group" : "img")"
         aria-label="\(description)"><title>\(description)</title>
        \(HTML.joined(parts))
        </svg>
        """
    }

    /// The column of an instant.
    package func x(_ instant: Instant) -> Int { left + axis.column(of: instant) }

    /// Whether a part of a span is on the axis.
    package func isVisible(_ time: Range<Instant>) -> Bool {
        time.lowerBound < axis.end && axis.start < time.upperBound
    }

    /// The labelled lines of the axis.
    package var ticks: HTML {
        let lines = axis.ticks.map { tick -> HTML in
            let x = left + tick.column
            return """
                <line class="tick" x1="\(x)" y1="18" x2="\(x)" y2="\(height)"/>
                <text class="axis" x="\(x + 3)" y="13">\(tick.label)</text>
                """
        }
        return "\(lines)"
    }

    /// The line at the instant asked about.
    package func asked(_ instant: Instant, _ title: String) -> HTML {
        let x = x(instant)
        return """
            <line class="asked" x1="\(x)" y1="18" x2="\(x)" y2="\(height)">\
            <title>\(title)</title></line>
            """
    }

    /// A rectangle for a span.
    package func box(
        _ time: Range<Instant>,
        top: Int,
        height: Int,
        kind: String,
        title: String
    ) -> HTML {
        let (from, to) = (x(time.lowerBound), x(time.upperBound))
        return """
            <rect class="\(kind)" x="\(from)" y="\(top)" width="\(max(2, to - from))" \
            height="\(height)"><title>\(title)</title></rect>
            """
    }

    /// A row with the times of access, and what is marked in it.
    ///
    /// - Parameters:
    ///   - name: The name of the row, in its titles, too.
    ///   - spans: The times of access.
    ///   - top: Its upper edge.
    ///   - marked: The times that are marked.
    ///   - mark: The kind of the mark, and its word in titles.
    /// - Returns: Its markup.
    package func access(
        _ name: String,
        _ spans: [AccessSpan],
        top: Int,
        marked: [Range<Instant>],
        _ mark: (kind: String, word: String)
    ) -> HTML {
        let middle = top + TimelineDrawing.barHeight / 2 + 5
        func boxes(_ spans: [Range<Instant>], _ kind: String, _ word: String) -> [HTML] {
            spans.filter(isVisible).map {
                box(
                    $0,
                    top: top,
                    height: TimelineDrawing.barHeight,
                    kind: kind,
                    title: word + ": " + TimelineDrawing.words($0)
                )
            }
        }
        let (grace, full) = (
            spans.filter(\.isGrace).map(\.time), spans.filter { !$0.isGrace }.map(\.time)
        )
        // Drawn over the marks, so a marked grace is still recognisable as grace.
        let hatches = boxes(grace, "hatch", "grace")
        let goesOn = spans.contains { $0.time.upperBound > axis.end }
        let arrow: [HTML] =
            goesOn ? ["<text class=\"arrow\" x=\"\(end + 2)\" y=\"\(top + 16)\">→</text>"] : []
        return """
            <text class="name" x="0" y="\(middle)">\(name)</text>
            <line class="none" x1="\(left)" y1="\(middle - 5)" x2="\(end)" y2="\(middle - 5)"/>
            \(boxes(full, "full", name))\(boxes(grace, "grace", name + ", grace"))\
            \(boxes(marked, mark.kind, mark.word))\(hatches)\(arrow)
            """
    }

    /// A span with its length, as text.
    package static func words(_ time: Range<Instant>) -> String {
        let length = time.upperBound.milliseconds - time.lowerBound.milliseconds
        return "\(time.lowerBound.clock) – \(time.upperBound.clock) "
            + "\(QuestionZone.shown.name), \(DifferenceWording.length(length))"
    }
}
