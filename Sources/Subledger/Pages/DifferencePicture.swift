internal import Events
internal import Projections

/// One sample as a picture: the access of both sides over one axis, and below them what was gained
/// and lost.
///
/// Lost access has a minus, gained access has a plus, and grace is hatched.
struct DifferencePicture {
    private let sample: ExplainedSample
    private let old: [AccessSpan]
    private let new: [AccessSpan]
    private let drawing: TimelineDrawing

    private static let left = 62
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
        drawing = TimelineDrawing(
            showing: DifferencePicture.shown(old + new, sample.instant),
            asked: sample.instant,
            left: DifferencePicture.left,
            height: DifferencePicture.height
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
        drawing.svg(
            description,
            [
                drawing.ticks,
                drawing.access(
                    "old",
                    old,
                    top: DifferencePicture.oldTop,
                    marked: difference.lost,
                    ("lost", "lost")
                ),
                drawing.access(
                    "new",
                    new,
                    top: DifferencePicture.newTop,
                    marked: difference.gained,
                    ("gained", "gained")
                ),
            ] + changes + [
                drawing.asked(sample.instant, "explained: \(sample.instant.clock) UTC")
            ]
        )
    }

    /// How many of the differing spans are not in the picture, as text; nil if all are.
    var outside: String? { difference.outside(drawing.axis.start..<drawing.axis.end) }

    private var description: String {
        "Access of \(sample.difference.stream.originalTransactionId): "
            + "\(DifferenceWording.length(difference.gained.length)) gained, "
            + "\(DifferenceWording.length(difference.lost.length)) lost"
    }

    private var changes: [HTML] {
        let marks =
            difference.lost.map { (time: $0, sign: "−", kind: "lost") }
            + difference.gained.map { (time: $0, sign: "+", kind: "gained") }
        var pieces: [HTML] = []
        // Overlapping labels are left out: the titles and the table contain them.
        var free = DifferencePicture.left
        for mark in marks.sorted(by: { $0.time.lowerBound < $1.time.lowerBound })
        where drawing.isVisible(mark.time) {
            let length = mark.time.upperBound.milliseconds - mark.time.lowerBound.milliseconds
            let label = mark.sign + DifferenceWording.length(length)
            let title = "\(mark.kind): \(TimelineDrawing.words(mark.time))"
            pieces.append(
                drawing.box(
                    mark.time,
                    top: DifferencePicture.changeTop,
                    height: 4,
                    kind: mark.kind,
                    title: title
                )
            )
            let width = label.count * TimelineDrawing.characterWidth
            let start = min(
                drawing.x(mark.time.lowerBound) + DifferencePicture.labelGap,
                drawing.end - width
            )
            guard start >= free else { continue }
            free = start + width + TimelineDrawing.characterWidth
            let y = DifferencePicture.changeTop + 20
            let kind = "label \(mark.kind)-text"
            pieces.append("<text class=\"\(kind)\" x=\"\(start)\" y=\"\(y)\">\(label)</text>")
        }
        return pieces
    }

    /// The space between a line and the label next to it.
    private static let labelGap = 4
}
