import Events
import Foundation
import Testing

/// How positions are written, compared and read back.
@Suite struct PositionTests {
    @Test func `a position is its offset where the ledger has one lane, otherwise lane and offset`()
        throws
    {
        let several = try #require(LaneCount(4))
        for (lane, text, json) in [
            (LaneCount.one[0], "17", "[17]"), (several[0], "0:17", #"["0:17"]"#),
            (several[3], "3:17", #"["3:17"]"#),
        ] {
            let position = Position(lane: lane, offset: 17)
            #expect("\(position)" == text)
            let encoded = try JSONEncoder().encode([position])
            #expect(String(decoding: encoded, as: UTF8.self) == json)
            let read = try JSONDecoder().decode([Position].self, from: encoded)
            #expect(read == [position] && "\(read[0])" == text)
        }
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode([Position].self, from: Data(#"["1:2:3"]"#.utf8))
        }
        #expect(several.text([3: 4, 0: 17]) == "0:17,3:4" && LaneCount.one.text([0: 4]) == "4")
    }

    @Test func `equal positions are equal, however their lanes were named, and sort by lane`() {
        let (known, named) = (Position(lane: .only, offset: 2), Position(lane: Lane(0), offset: 2))
        #expect(known == named && Set([known, named]).count == 1)
        #expect(known < Position(lane: Lane(0), offset: 3))
        #expect(Position(lane: Lane(0), offset: 9) < Position(lane: Lane(1), offset: 1))
    }

    @Test func `a position takes no more memory than two numbers`() {
        #expect(MemoryLayout<Position>.stride == 16)
    }
}
