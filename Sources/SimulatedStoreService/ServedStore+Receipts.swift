internal import AppStoreSimulator
internal import Events
internal import Foundation

/// The body of verifyReceipt.
struct ReceiptBody: Decodable {
    let receiptData: String?
    let password: String?

    private enum CodingKeys: String, CodingKey {
        case receiptData = "receipt-data"
        case password
    }
}

extension ServedStore {
    /// The number of the life that a receipt shows; nil where it is none of this environment's.
    ///
    /// Only ids are looked for: whoever wants to know whether a receipt is genuine asks a verifier.
    func life(ofReceipt receipt: Data, at now: Instant) -> Int? {
        // A byte of the encoding beside an id may be a digit by chance: every stretch is tried.
        var digits: [UInt8] = []
        for byte in receipt {
            guard 0x30...0x39 ~= byte else {
                digits.removeAll(keepingCapacity: true)
                continue
            }
            digits.append(byte)
            guard digits.count >= ServedStore.idLength else { continue }
            let id = String(decoding: digits.suffix(ServedStore.idLength), as: UTF8.self)
            if let found = life(of: id, allowsAppTransaction: false, at: now) { return found }
        }
        return nil
    }

    /// Digits of every transaction id here.
    private static let idLength = 15

    /// What verifyReceipt answers about a life.
    func verifyReceiptResponse(_ number: Int, at now: Instant) -> [UInt8] {
        let life = life(number)
        return life.verifyReceiptResponse(asOf: life.store.pace.calendar(now))
    }

    /// The app's receipt of a life, in base64.
    func receipt(_ number: Int, at now: Instant) -> [UInt8] {
        let life = life(number)
        return life.appReceiptBase64(asOf: life.store.pace.calendar(now))
    }
}
