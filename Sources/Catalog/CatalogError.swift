/// Why a file could not be read as a catalog.
public struct CatalogError: Error, Hashable, Sendable {
    /// What happened, for callers to switch on.
    public let code: Code
    /// What happened, to which thing, and what to do next; safe to log.
    public let message: String

    /// The causes.
    public enum Code: String, CaseIterable, Sendable {
        /// It is in neither of the supported formats.
        case notACatalog = "not-a-catalog"
        /// It is one of them, but something in it is missing or of another type.
        case malformed
        /// Two products have the same identifier.
        case duplicateProduct = "duplicate-product"
        /// It is larger than any catalog.
        case tooLarge = "too-large"
        /// An imported version cannot be read back.
        case unreadableVersion = "unreadable-version"
    }

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}

extension CatalogError: CustomStringConvertible {
    /// The message and the code.
    public var description: String { "\(message) [\(code.rawValue)]" }
}
