import Events
import Projections
import Testing

/// Pictures as text; `ExplanationTests` tests their content.
@Suite struct TimelinePictureTests {
    private func picture(
        _ style: TimelinePicture.Style,
        width: Int = 100
    ) throws -> TimelinePicture {
        let history = try RecordedStory(ExplanationTests.march).history
        let explanation = Explanation([history], at: try TimelineText.instant("03-03T09:00:00"))
        return TimelinePicture(explanation, of: [history], width: width, style: style)
    }

    @Test func `a timeline is drawn in Unicode`() throws {
        #expect(
            try picture(.unicode).lines.joined(separator: "\n") == """
                              Jan 2026               Feb                  Mar
                              |                      |                    | ▼ asked
                  access      ▒▒▒▒▒████████████████████████░░████████████████████████████████→   now known
                  then        ▒▒▒▒▒████████████████████████░░████████████╳····················   known at asked time
                  product     ├───┤├ monthly ────────────┤  ├ monthly ───────┤▲ yearly ──────→
                  renew                                   on ─────────────────────────────────
                  money            +9.99                    +9.99        −9.99 ↩
                           ▒ trial  ▓ offer  █ paid  ░ grace  ╳ refund  · no access  ↩ reversed  ▲ change
                """
        )
    }

    @Test func `a timeline is drawn in ASCII`() throws {
        let lines = try picture(.ascii).lines
        #expect(lines.joined().utf8.allSatisfy { (32..<127).contains($0) })
        #expect(
            lines.joined(separator: "\n") == """
                              Jan 2026               Feb                  Mar
                              |                      |                    | v asked
                  access      ttttt########################~~################################>   now known
                  then        ttttt########################~~############x....................   known at asked time
                  product     [---][ monthly ------------]  [ monthly -------]^ yearly ------>
                  renew                                   on ---------------------------------
                  money            +9.99                    +9.99        -9.99 <-
                           t trial  o offer  # paid  ~ grace  x refund  . no access  <- reversed  ^ change
                """
        )
    }

    @Test func `a period shorter than a cell is still drawn as access`() throws {
        let history = try RecordedStory(
            """
            01-01T00:00:04 @01-01 purchase monthly 01-01..02-01 woli=1
            03-01T00:00:04 @03-01 purchase monthly 03-01T00:00:00..03-01T00:05:00 woli=2
            05-01T00:00:04 @05-01 purchase monthly 05-01..06-01 woli=3
            """
        ).history
        let explanation = Explanation([history], at: try TimelineText.instant("05-15"))
        let lines = TimelinePicture(explanation, of: [history], style: .ascii).lines
        let access = try #require(lines.first { $0.hasPrefix("  access") })
        #expect(access.contains(/#+\.+#\.+#+/), "\(access)")
    }

    @Test(arguments: [0, 60, 61, 80, 100, 173, 400])
    func `no line is longer than the terminal, and omitted labels are counted`(width: Int) throws {
        let picture = try picture(.unicode, width: width)
        let most = max(width, TimelinePicture.widthMin)
        // The legend has a separate length.
        #expect(picture.lines.dropLast().allSatisfy { $0.count <= most }, "\(picture.lines)")
        if width <= 61 { #expect(!picture.omitted.isEmpty) }
    }

    @Test(arguments: UInt64(1)...200)
    func `every history can be drawn`(seed: UInt64) {
        var random = RandomFacts(seed: seed)
        let facts = random.facts(12).filter { $0.stream == RandomFacts.streams[0] }
        let history = RecordedStory.history(
            of: facts.enumerated().map { (RandomFacts.day(Int64($0)), UInt8($0), $1) }
        )
        for day in [Int64(-5000), -3, 2, 9, 7000] {
            let explanation = Explanation([history], at: RandomFacts.day(day))
            let picture = TimelinePicture(explanation, of: [history], style: .ascii)
            #expect(picture.lines.count == 8, "seed \(seed)")
            #expect(picture.lines.dropLast().allSatisfy { $0.count <= 100 }, "seed \(seed)")
        }
    }
}
