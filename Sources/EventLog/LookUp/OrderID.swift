/// An order id of Apple's invoices, such as `MK5TS1XYZ7`: in upper case, as Apple writes it.
///
/// No payload contains it. Apple names the transactions of an order when it is asked.
package struct OrderID: Hashable, Sendable {
    /// The id in upper case.
    package let text: String

    /// The longest id, in bytes; Apple's have ten or eleven.
    package static let byteCountMax = 32

    /// Reads an id in either letter case; nil unless it has only letters and digits, among them a
    /// letter: an id of digits is one of a transaction.
    ///
    /// - Parameter text: The id, without anything around it.
    package init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count <= OrderID.byteCountMax,
            text.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber) }),
            text.contains(where: \.isLetter)
        else { return nil }
        self.text = text.uppercased()
    }

    /// Whether it begins as all order ids do that Apple has issued.
    package var hasAppleLetter: Bool { text.first == "M" }
}
