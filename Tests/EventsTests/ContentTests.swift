import Events
import TestSupport
import Testing

/// The canonical form of a fact's content.
@Suite struct ContentTests {
    @Test func `canonical bytes are read back as the same content`() {
        for seed in UInt64(1)...2000 {
            var random = SeededGenerator(seed: seed)
            let content = random.content()
            let bytes = content.canonicalBytes
            #expect(Content(canonicalBytes: bytes) == content, "seed \(seed)")
            #expect(Content(canonicalBytes: bytes)?.canonicalBytes == bytes, "seed \(seed)")
        }
    }

    @Test func `damaged bytes are refused or are canonical themselves, and never trap`() {
        for seed in UInt64(1)...3000 {
            var random = SeededGenerator(seed: seed)
            var bytes = random.content().canonicalBytes
            if Bool.random(using: &random) {
                bytes.removeLast(Int.random(in: 1...bytes.count, using: &random))
            } else {
                for _ in 0..<Int.random(in: 1...4, using: &random) {
                    bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(
                        in: 0...255,
                        using: &random
                    )
                }
            }
            guard let read = Content(canonicalBytes: bytes) else { continue }
            #expect(read.canonicalBytes == bytes, "seed \(seed)")
        }
    }

    @Test func `random bytes never trap`() {
        for seed in UInt64(1)...3000 {
            var random = SeededGenerator(seed: seed)
            var bytes = (0..<Int.random(in: 0...40, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            if bytes.count > 1 { bytes.replaceSubrange(0..<2, with: [1, 1]) }
            guard let read = Content(canonicalBytes: bytes) else { continue }
            #expect(read.canonicalBytes == bytes, "seed \(seed)")
        }
    }

    @Test func `canonical bytes never change`() {
        var content = Content(format: .signedTransaction)
        content[.productId] = .text("p\u{E9}")
        content[.price] = .integer(990)
        content[.isUpgraded] = .boolean(true)
        content[.revocationDate] = .instant(Instant(milliseconds: 1_700_000_000_123))
        content[.transactionId] = .text("42")
        content[.extra] = .text("{}")
        let transactionId = "01" + "02" + "3432"
        let meaningful = [
            "03" + "03" + "70c3a9", "0c" + "08" + "00000000000003de", "0d" + "01" + "01",
            "12" + "08" + "0000018bcfe5687b", "3f" + "02" + "7b7d",
        ].joined()
        #expect(hexadecimal(content.canonicalBytes) == "0101" + transactionId + meaningful)
        // python3: hashlib.sha256(bytes.fromhex("0101" + meaningful + "00" * 7 + "05")).hexdigest()
        #expect(hexadecimal(Self.key(content).suffix(10)) == "48f337d85ac8c7734edc")
    }

    @Test func `only the shortest form of a length is accepted`() {
        #expect(Content(canonicalBytes: [1, 1, 3, 1, 0x61]) != nil)
        #expect(Content(canonicalBytes: [1, 1, 3, 0x81, 0x00, 0x61]) == nil)
    }

    @Test func `a transaction id is an alias and is not part of any digest`() {
        var content = Content(format: .signedTransaction)
        content[.productId] = .text("p")
        let key = Self.key(content)
        content[.transactionId] = .text("1")
        #expect(Self.key(content) == key)
        #expect(!content.asserted.contains(.transactionId))
    }

    private static func key(_ content: Content) -> [UInt8] {
        FactKey(
            Fact(
                stream: StreamID(environment: .production, originalTransactionId: "1"),
                bundleId: "",
                kind: .transaction,
                purchaseDate: nil,
                expiresDate: nil,
                asOf: Instant(milliseconds: 5),
                content: content
            )
        ).bytes
    }

    @Test func `setting nil removes a field`() {
        var content = Content(format: .signedTransaction)
        content[.price] = .integer(1)
        content[.price] = nil
        #expect(content == Content(format: .signedTransaction))
    }

    @Test
    func `setting, replacing and removing fields in any order leaves the other bytes unchanged`() {
        for seed in UInt64(1)...2000 {
            var random = SeededGenerator(seed: seed)
            let (source, other) = (random.content(), random.content())
            var content = Content(format: source.format)
            // Setting `extra` sets another field, so it is tested separately.
            let wanted = source.entries.filter { $0.field != .extra && $0.field != .keptAside }
            // Shorter and longer values before, and fields that are removed.
            for entry in other.entries.shuffled(using: &random) where entry.field != .extra {
                content[entry.field] = entry.value
            }
            for entry in wanted.shuffled(using: &random) {
                if case .text(let text) = entry.value {
                    content.set(entry.field, utf8: Array(text.utf8)[...])
                } else {
                    content[entry.field] = entry.value
                }
            }
            let kept = Set(wanted.map(\.field))
            for field in Field.allCases.shuffled(using: &random) where !kept.contains(field) {
                content[field] = nil
            }
            var bytes = ByteWriter()
            bytes.raw([Content.canonicalVersion, source.format.rawValue])
            for entry in wanted {
                bytes.integer(entry.field.rawValue)
                bytes.leb128(UInt64(entry.value.canonicalBytes.count))
                bytes.raw(entry.value.canonicalBytes)
            }
            #expect(content.canonicalBytes == bytes.bytes, "seed \(seed)")
            #expect(content.carried == FieldSet(kept), "seed \(seed)")
        }
    }

    @Test func `texts are compared by bytes`() {
        #expect(FieldValue.text("\u{E9}") != .text("e\u{301}"))
        let composed = StreamID(environment: .sandbox, originalTransactionId: "\u{E9}")
        let decomposed = StreamID(environment: .sandbox, originalTransactionId: "e\u{301}")
        #expect(composed != decomposed)
        #expect((composed < decomposed) != (decomposed < composed))
        #expect(StoreEnvironment("\u{E9}") != StoreEnvironment("e\u{301}"))
        #expect(Set([composed, decomposed]).count == 2)
    }

    @Test func `Apple's words for environments are read in any letter case, others as they are`() {
        #expect(StoreEnvironment.named.count == 4)
        for environment in StoreEnvironment.named {
            #expect(StoreEnvironment.inAnyCase(environment.word.lowercased()) == environment)
            #expect(StoreEnvironment(environment.word) == environment)
        }
        #expect(StoreEnvironment.inAnyCase("Mars") == .unrecognised("Mars"))
    }
}
