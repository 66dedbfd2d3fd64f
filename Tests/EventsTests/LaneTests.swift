import Events
import Testing

/// Lanes: the same in Swift, in SQL and in any other language.
@Suite struct LaneTests {
    // python3: int.from_bytes(hashlib.sha256(id.encode()).digest()[:4], "big") % lanes
    @Test(
        arguments: [
            ("", 66, 66),
            ("1000", 117, 373),
            ("2000000123456789", 24, 280),
            ("4002002162812828", 248, 504),
            ("320000852031245", 219, 987),
            ("\u{E9}", 126, 382),
        ] as [(String, Int, Int)]
    )
    func `lanes of known ids match an independent computation`(
        id: String,
        of256: Int,
        of1024: Int
    ) throws {
        #expect(try #require(LaneCount(256)).lane(of: id) == of256)
        #expect(try #require(LaneCount(1024)).lane(of: id) == of1024)
        #expect(LaneCount.one.lane(of: id) == 0)
    }

    @Test func `only powers of two are valid numbers of lanes`() {
        let accepted = (-2...2048).filter { LaneCount($0) != nil }
        #expect(accepted == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024])
    }
}
