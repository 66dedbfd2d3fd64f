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
    /// The number of the life in a receipt; nil if it is not one of this environment.
    ///
    /// Only looks for ids: checking whether a receipt is genuine is the verifier's task.
    func life(ofReceipt receipt: Data, at now: Instant) -> Int? {
        // A byte of the encoding next to an id may happen to be a digit, so every run of digits is
        // tried at every place.
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

    /// The number of digits of every transaction id here.
    private static let idLength = 15

    /// The response of verifyReceipt about a life.
    func verifyReceiptResponse(_ number: Int, at now: Instant) -> [UInt8] {
        let (life, instant) = life(number, at: now)
        return life.verifyReceiptResponse(asOf: instant)
    }

    /// The app's receipt of a life, in base64.
    func receipt(_ number: Int, at now: Instant) -> [UInt8] {
        let (life, instant) = life(number, at: now)
        return life.appReceiptBase64(asOf: instant)
    }
}
