import Events
import Projections
import Subledger

/// One sample as a picture: the access of both sides over one axis, and below them what was gained
/// and lost.
///
/// Nothing depends on colour alone: lost access is crossed out and has a minus, gained access has a
/// plus, grace is hatched, and every span has a title. An SVG that refers only to the patterns of
/// its page.
struct DifferencePicture {
    private let sample: ExplainedSample
    private let old: [AccessSpan]
    private let new: [AccessSpan]
    private let axis: TimelineAxis

    private static let left = 62
    private static let columns = 860
    private static let tickColumns = 56
    private static let right = 18
    private static let barHeight = 22
    private static let oldTop = 24
    private static let newTop = 54
    private static let changeTop = 84
    private static let height = 112

    /// The picture; nil if no table contains access, or neither side has any.
    init?(_ sample: ExplainedSample) {
        guard let old = sample.oldSpans, let new = sample.newSpans, !(old + new).isEmpty else {
            return nil
        }
        self.sample = sample
        self.old = old
        self.new = new
        axis = TimelineAxis(
            showing: DifferencePicture.shown(old + new, sample.instant),
            asked: sample.instant,
            columns: DifferencePicture.columns,
            tickColumns: DifferencePicture.tickColumns
        )
    }

    // For an endless access, some time after the last change is enough: an arrow shows that it
    // continues.
    private static func shown(_ spans: [AccessSpan], _ asked: Instant) -> [Range<Instant>] {
        let starts = spans.map(\.time.lowerBound) + [asked]
        let first = starts.min() ?? asked
        let last = starts.max() ?? asked
        let elapsed = last.milliseconds - first.milliseconds
        let room = max(elapsed / 2, DifferencePicture.roomMilliseconds)
        let end = Instant(milliseconds: last.milliseconds + room)
        return spans.map {
            $0.time.lowerBound..<max($0.time.lowerBound, min($0.time.upperBound, end))
        }
    }

    /// The least time shown after the last start: two months, enough for one month and what follows
    /// it.
    private static let roomMilliseconds: Int64 = 62 * 86_400_000

    private var difference: AccessDifference { sample.difference.access }

    /// The picture's markup.
    var svg: HTML {
        let width = DifferencePicture.left + DifferencePicture.columns + DifferencePicture.right
        return """
            <svg viewBox="0 0 \(width) \(DifferencePicture.height)" role="img"
             aria-label="\(description)"><title>\(description)</title>
            \(ticks)
            \(bar("old", old, top: DifferencePicture.oldTop, marked: difference.lost, "lost"))
            \(bar("new", new, top: DifferencePicture.newTop, marked: difference.gained, "gained"))
            \(changes)
            \(asked)
            </svg>
            """
    }

    /// How many of the differing spans are not in the picture, as text; nil if all are.
    var outside: String? { difference.outside(axis.start..<axis.end) }

    private var description: String {
        "Access of \(sample.difference.stream.originalTransactionId): "
            + "\(DifferenceWording.length(difference.gained.length)) gained, "
            + "\(DifferenceWording.length(difference.lost.length)) lost"
    }

    private func x(_ instant: Instant) -> Int { DifferencePicture.left + axis.column(of: instant) }

    private var ticks: [HTML] {
        axis.ticks.map { tick in
            let x = DifferencePicture.left + tick.column
            return """
                <line class="tick" x1="\(x)" y1="18" x2="\(x)" y2="\(DifferencePicture.height)"/>
                <text class="axis" x="\(x + 3)" y="13">\(tick.label)</text>
                """
        }
    }

    private var asked: HTML {
        let x = x(sample.instant)
        return """
            <line class="asked" x1="\(x)" y1="18" x2="\(x)" y2="\(DifferencePicture.height)">\
            <title>explained: \(sample.instant.clock) UTC</title></line>
            """
    }

    private func bar(
        _ name: String,
        _ spans: [AccessSpan],
        top: Int,
        marked: [Range<Instant>],
        _ mark: String
    ) -> HTML {
        let middle = top + DifferencePicture.barHeight / 2 + 5
        let boxes = spans.filter { isVisible($0.time) }.map { span in
            let title = "\(name)\(span.isGrace ? ", grace" : ""): \(words(span.time))"
            return box(span.time, top: top, kind: span.isGrace ? "grace" : "full", title: title)
        }
        let marks = marked.filter(isVisible).map {
            box($0, top: top, kind: mark, title: "\(mark): \(words($0))")
        }
        return """
            <text class="name" x="0" y="\(middle)">\(name)</text>
            <line class="none" x1="\(DifferencePicture.left)" y1="\(middle - 5)" \
            x2="\(DifferencePicture.left + DifferencePicture.columns)" y2="\(middle - 5)"/>
            \(boxes)\(marks)\(hatches(spans, top: top))\(arrow(spans, top: top))
            """
    }

    // Drawn over the marks, so a lost grace is still recognisable as grace.
    private func hatches(_ spans: [AccessSpan], top: Int) -> [HTML] {
        spans.filter { $0.isGrace && isVisible($0.time) }.map {
            box($0.time, top: top, kind: "hatch", title: "grace: \(words($0.time))")
        }
    }

    private func arrow(_ spans: [AccessSpan], top: Int) -> [HTML] {
        guard spans.contains(where: { $0.time.upperBound > axis.end }) else { return [] }
        let x = DifferencePicture.left + DifferencePicture.columns + 2
        return ["<text class=\"arrow\" x=\"\(x)\" y=\"\(top + 16)\">→</text>"]
    }

    private func isVisible(_ time: Range<Instant>) -> Bool {
        time.lowerBound < axis.end && axis.start < time.upperBound
    }

    private func box(
        _ time: Range<Instant>,
        top: Int,
        height: Int = barHeight,
        kind: String,
        title: String
    ) -> HTML {
        let (from, to) = (x(time.lowerBound), x(time.upperBound))
        return """
            <rect class="\(kind)" x="\(from)" y="\(top)" width="\(max(2, to - from))" \
            height="\(height)"><title>\(title)</title></rect>
            """
    }

    private var changes: [HTML] {
        let marks =
            difference.lost.map { (time: $0, sign: "−", kind: "lost") }
            + difference.gained.map { (time: $0, sign: "+", kind: "gained") }
        var pieces: [HTML] = []
        // Overlapping labels are left out: the titles and the table contain them.
        var free = DifferencePicture.left
        for mark in marks.sorted(by: { $0.time.lowerBound < $1.time.lowerBound })
        where isVisible(mark.time) {
            let length = mark.time.upperBound.milliseconds - mark.time.lowerBound.milliseconds
            let label = mark.sign + DifferenceWording.length(length)
            let (top, title) = (DifferencePicture.changeTop, "\(mark.kind): \(words(mark.time))")
            pieces.append(box(mark.time, top: top, height: 4, kind: mark.kind, title: title))
            let width = label.count * DifferencePicture.characterWidth
            let start = min(
                x(mark.time.lowerBound) + DifferencePicture.labelGap,
                DifferencePicture.left + DifferencePicture.columns - width
            )
            guard start >= free else { continue }
            free = start + width + DifferencePicture.characterWidth
            let y = DifferencePicture.changeTop + 20
            let kind = "label \(mark.kind)-text"
            pieces.append("<text class=\"\(kind)\" x=\"\(start)\" y=\"\(y)\">\(label)</text>")
        }
        return pieces
    }

    /// The space between a line and the label next to it.
    private static let labelGap = 4

    /// An upper estimate for a label's font.
    private static let characterWidth = 8

    private func words(_ time: Range<Instant>) -> String {
        let length = time.upperBound.milliseconds - time.lowerBound.milliseconds
        return "\(time.lowerBound.clock) – \(time.upperBound.clock) UTC, "
            + DifferenceWording.length(length)
    }
}
