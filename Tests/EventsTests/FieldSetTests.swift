import Events
import Testing

/// Sets of fields as bits of their tags.
@Suite struct FieldSetTests {
    @Test func `each field of a set is one bit, at its tag`() {
        var set = FieldSet([.transactionId, .extra])
        #expect(set.rawValue == UInt64(1) << 1 | UInt64(1) << 63)
        #expect(set.contains(.extra) && !set.contains(.price))
        set.insert(.price)
        #expect(set.fields == [.transactionId, .price, .extra])
        #expect(set.union(FieldSet([.status])).fields == [.transactionId, .price, .status, .extra])
    }

    @Test func `bits without a field are ignored`() {
        #expect(FieldSet(rawValue: 1 | 1 << 62).fields.isEmpty)
    }

    @Test func `a set can hold every field, and all tags fit the bits`() {
        let all = FieldSet(Field.allCases)
        #expect(all.fields == Field.allCases)
        #expect(Field.allCases.allSatisfy { $0.rawValue > 0 && $0.rawValue < 64 })
    }
}
