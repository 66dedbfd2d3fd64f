package import Events

/// The answer as a picture made of text: access as known now and as known then, products,
/// auto-renewal and money over one time axis.
///
/// No information depends on colour. A label without room is left out and counted, never written
/// over another one; the table of events below a picture has the same information.
package struct TimelinePicture: Sendable {
    /// The lines, without line breaks, none longer than the requested width.
    package let lines: [String]
    /// Labels that did not fit, by lane: lane and number of labels, in the order of the lanes.
    package let omitted: [Omission]

    /// Labels of one lane that did not fit.
    package struct Omission: Hashable, Sendable {
        /// The lane's name.
        package let lane: String
        /// The number of labels.
        package let count: Int
    }

    /// The characters it is drawn with.
    package enum Style: Sendable {
        /// Box drawing and shades.
        case unicode
        /// Letters, for terminals and pipes that may support nothing else.
        case ascii
    }

    /// The width if that of the terminal is not known.
    package static let defaultWidth = 100
    /// The smallest width at which a picture is legible.
    package static let widthMin = 60

    /// The picture of an explanation.
    ///
    /// - Parameters:
    ///   - explanation: The explanation.
    ///   - histories: The histories it was made from.
    ///   - width: Columns of the terminal; at least `widthMin` are used.
    ///   - style: The characters to draw with.
    package init(
        _ explanation: Explanation,
        of histories: [RecordedHistory],
        width: Int = TimelinePicture.defaultWidth,
        style: Style
    ) {
        let columns =
            max(width, TimelinePicture.widthMin) - TimelinePicture.nameColumns
            - TimelinePicture.noteColumns
        let rows = explanation.rowsNow + explanation.rowsThen
        let axis = TimelineAxis(
            showing: TimelinePicture.shown(rows, asked: explanation.at),
            asked: explanation.at,
            columns: columns
        )
        let pencil = TimelinePencil(axis: axis, glyphs: TimelineGlyphs(style))

        let timelines = histories.map { Timeline($0.latest) }
        let lanes = [
            pencil.labels, pencil.marks(asked: explanation.at),
            pencil.access("access", explanation.rowsNow, explanation.oneTimeNow),
            pencil.access("then", explanation.rowsThen, explanation.oneTimeThen),
            pencil.products(explanation.rowsNow),
            pencil.renewals(timelines), pencil.money(timelines),
        ]

        let notes = ["access": "   now known", "then": "   known at asked time"]
        var drawn = lanes.map { lane in
            TimelinePicture.line(lane, note: notes[lane.name] ?? "")
        }
        drawn.append(
            String(repeating: " ", count: TimelinePicture.nameColumns) + pencil.glyphs.legend
        )
        lines = drawn
        omitted = lanes.filter { $0.omitted > 0 && !$0.name.isEmpty }.map {
            Omission(lane: $0.name, count: $0.omitted)
        }
    }

    /// What a picture shows of some rows: of the time after the last change and the instant asked
    /// about, a quarter of the time before it is enough, because an arrow shows that it continues.
    package static func shown(_ rows: [ActivePeriod], asked: Instant) -> [Range<Instant>] {
        let rows = rows.filter { $0.validFrom < $0.validTo }
        guard let first = rows.map(\.validFrom).min(), let last = rows.map(\.validFrom).max() else {
            return []
        }
        let turn = max(last, asked)
        let elapsed = max(turn.milliseconds - min(first, asked).milliseconds, TimelineAxis.hour)
        let limit = Instant(milliseconds: turn.milliseconds + elapsed / 4)
        return rows.map { $0.validFrom..<max($0.validFrom, min($0.validTo, limit)) }
    }

    static let nameColumns = 11
    static let noteColumns = 22

    private static func line(_ lane: TimelineLane, note: String) -> String {
        let name = "  " + lane.name
        let padding = String(repeating: " ", count: nameColumns - name.count)
        let body = note.isEmpty ? lane.text : String(lane.cells) + note
        return String((name + padding + body).reversed().drop { $0 == " " }.reversed())
    }
}
