import Events
import Testing

/// The rows that an erasure names, as text.
struct NumberRangesTests {
    @Test func `ranges are read back as they were written, up to the greatest number`() throws {
        for text in ["", "1", "3,7-9", "1-9223372036854775807", "9223372036854775807"] {
            let ranges = try #require(NumberRanges(text))
            #expect(ranges.description == text)
        }
        #expect(NumberRanges("1-9223372036854775807")?.count == .max)
        #expect(NumberRanges([9, 3, 8, 7, 0, -1]).description == "3,7-9")
    }

    @Test func `a number is found in the range that holds it`() {
        let numbers: [Int64] = [1, 4, 5, 6, 9, 12, 13, .max]
        let ranges = NumberRanges(numbers)
        for number in Array<Int64>(-1...15) + [.max - 1, .max] {
            #expect(ranges.contains(number) == numbers.contains(number), "\(number)")
        }
        #expect(!NumberRanges([]).contains(1))
    }

    @Test(
        arguments: [
            "0", "-1", "01", "+1", "1,", ",1", "1,2", "1-2,3", "3,1", "3-1", "1-2-3", "1-1", "a",
            "1-", "1-9223372036854775807,5", "9223372036854775808", "5-7,6",
        ]
    )
    func `impossible numbers are refused and never trap`(text: String) {
        #expect(NumberRanges(text) == nil)
    }
}
