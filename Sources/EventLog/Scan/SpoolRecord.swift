internal import Events
internal import Postgres

/// One row of the log as the spool stores it: numbers in the machine's byte order, then texts.
///
/// The key comes first among the texts: environment, a zero byte, id; no environment contains a
/// zero byte.
struct SpoolRecord {
    // Byte offsets of the numbers.
    private static let importedAt = 4
    private static let kindAt = 5
    private static let environmentBytesAt = 6
    private static let keyBytesAt = 8
    private static let offsetAt = 16
    private static let asOfAt = 24
    private static let purchaseAt = 32
    private static let expiresAt = 40
    private static let recordedAtAt = 48
    private static let bundleBytesAt = 56
    private static let evidenceAt = 60
    static let headerByteCount = 68

    /// The bytes of the record, which begins with their number.
    let bytes: UnsafeRawBufferPointer

    /// The record that begins there.
    init(in part: UnsafeRawBufferPointer, at start: Int) {
        let count = Int(part.loadUnaligned(fromByteOffset: start, as: UInt32.self))
        bytes = UnsafeRawBufferPointer(rebasing: part[start..<start + count])
    }

    var offset: Int64 { number(SpoolRecord.offsetAt) }
    var asOf: Instant { Instant(milliseconds: number(SpoolRecord.asOfAt)) }
    var key: UnsafeRawBufferPointer { piece(SpoolRecord.headerByteCount, keyByteCount) }

    var environment: UnsafeRawBufferPointer {
        piece(SpoolRecord.headerByteCount, environmentByteCount)
    }

    var originalTransactionId: UnsafeRawBufferPointer {
        let start = SpoolRecord.headerByteCount + environmentByteCount + 1
        return piece(start, keyByteCount - environmentByteCount - 1)
    }

    private var keyByteCount: Int { Int(number(SpoolRecord.keyBytesAt, as: UInt32.self)) }

    private var environmentByteCount: Int {
        Int(number(SpoolRecord.environmentBytesAt, as: UInt16.self))
    }

    private func number<I: FixedWidthInteger>(_ at: Int, as type: I.Type = I.self) -> I {
        bytes.loadUnaligned(fromByteOffset: at, as: I.self)
    }

    private func piece(_ start: Int, _ count: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bytes[start..<start + count])
    }
}

extension SpoolRecord {
    /// The event in the record, for that stream; throws if a part of it cannot be read.
    func event(
        of stream: StreamID,
        lane: Lane,
        isComplete: Bool,
        bundleId: inout RepeatedText
    ) throws(ScannedRow.Unreadable) -> Event {
        let bundleByteCount = Int(number(SpoolRecord.bundleBytesAt, as: UInt32.self))
        let bundleAt = SpoolRecord.headerByteCount + keyByteCount
        let contentAt = bundleAt + bundleByteCount
        let parts = ScannedRow.Parts(
            kind: Kind(code: bytes[SpoolRecord.kindAt]),
            content: piece(contentAt, bytes.count - contentAt),
            bundleId: isComplete ? piece(bundleAt, bundleByteCount) : nil,
            evidence: number(SpoolRecord.evidenceAt),
            isImported: bytes[SpoolRecord.importedAt] == 1,
            recordedAt: Instant(milliseconds: number(SpoolRecord.recordedAtAt)),
            purchaseDate: Instant(milliseconds: number(SpoolRecord.purchaseAt)),
            expiresDate: Instant(milliseconds: number(SpoolRecord.expiresAt)),
            asOf: asOf
        )
        let position = Position(lane: lane, offset: offset)
        return try ScannedRow.event(parts, of: stream, at: position, &bundleId)
    }
}

extension SpoolRecord {
    /// The content of a record to be written.
    struct Draft {
        let environment: UnsafeRawBufferPointer
        let originalTransactionId: UnsafeRawBufferPointer
        let offset: Int64
        let asOf: Int64
        var kind: Kind?
        let purchase: Int64
        let expires: Int64
        var recordedAt: Int64 = 0
        var bundleId = UnsafeRawBufferPointer(start: nil, count: 0)
        var evidence: Int64 = 0
        var isImported = false
        let content: UnsafeRawBufferPointer

        var keyByteCount: Int { environment.count + 1 + originalTransactionId.count }

        var byteCount: Int {
            SpoolRecord.headerByteCount + keyByteCount + bundleId.count + content.count
        }

        /// Writes only the key.
        func writeKey(to place: UnsafeMutableRawBufferPointer) {
            var writer = place
            writer.take(environment)
            writer[0] = 0
            writer = UnsafeMutableRawBufferPointer(rebasing: writer[1...])
            writer.take(originalTransactionId)
        }

        /// Writes the record into memory that has room for it.
        func write(to place: UnsafeMutableRawBufferPointer) {
            place.store(UInt32(byteCount), at: 0)
            place[SpoolRecord.importedAt] = isImported ? 1 : 0
            place[SpoolRecord.kindAt] = kind?.code ?? Kind.unknownCode
            place.store(UInt16(environment.count), at: SpoolRecord.environmentBytesAt)
            place.store(UInt32(keyByteCount), at: SpoolRecord.keyBytesAt)
            place.store(offset, at: SpoolRecord.offsetAt)
            place.store(asOf, at: SpoolRecord.asOfAt)
            place.store(purchase, at: SpoolRecord.purchaseAt)
            place.store(expires, at: SpoolRecord.expiresAt)
            place.store(recordedAt, at: SpoolRecord.recordedAtAt)
            place.store(UInt32(bundleId.count), at: SpoolRecord.bundleBytesAt)
            place.store(evidence, at: SpoolRecord.evidenceAt)
            let keyed = SpoolRecord.headerByteCount + keyByteCount
            let key = place[SpoolRecord.headerByteCount..<keyed]
            writeKey(to: UnsafeMutableRawBufferPointer(rebasing: key))
            var writer = UnsafeMutableRawBufferPointer(rebasing: place[keyed...])
            writer.take(bundleId)
            writer.take(content)
        }
    }
}

extension UnsafeMutableRawBufferPointer {
    fileprivate func store<I: FixedWidthInteger>(_ value: I, at offset: Int) {
        storeBytes(of: value, toByteOffset: offset, as: I.self)
    }

    /// Copies bytes to the front, and advances behind them.
    fileprivate mutating func take(_ bytes: UnsafeRawBufferPointer) {
        copyMemory(from: bytes)
        self = UnsafeMutableRawBufferPointer(rebasing: self[bytes.count...])
    }
}

extension Kind {
    static let unknownCode: UInt8 = 255

    fileprivate init?(code: UInt8) {
        switch code {
        case 1: self = .transaction
        case 2: self = .renewal
        case 3: self = .notification
        case 4: self = .link
        case 5: self = .catalog
        case 6: self = .erasure
        case 7: self = .erased
        default: return nil
        }
    }

    fileprivate var code: UInt8 {
        switch self {
        case .transaction: 1
        case .renewal: 2
        case .notification: 3
        case .link: 4
        case .catalog: 5
        case .erasure: 6
        case .erased: 7
        }
    }

    /// The kind that a column names; nil for a word that this program does not know.
    ///
    /// Compares the length first, which few words share.
    init?(word: UnsafeRawBufferPointer) {
        let kind: Kind
        switch word.count {
        case 11: kind = .transaction
        case 7:
            kind =
                switch word[0] {
                case UInt8(ascii: "r"): .renewal
                case UInt8(ascii: "c"): .catalog
                default: .erasure
                }
        case 6: kind = .erased
        case 12: kind = .notification
        case 4: kind = .link
        default: return nil
        }
        guard kind.rawValue.withBytes({ ByteScan.areEqual($0, word) }) else { return nil }
        self = kind
    }
}
