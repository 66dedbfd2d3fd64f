/// Where a purchase was made; part of the identity of every stream.
///
/// Apple's words (Apple's data: environments). Sandbox data is signed under the same Apple roots as
/// production data, so this value alone keeps test purchases from granting real access.
public enum StoreEnvironment: Hashable, Sendable {
    /// The App Store that takes money.
    case production
    /// Sandbox, TestFlight and App Review.
    case sandbox
    /// StoreKit testing in Xcode: signed on a developer's machine.
    case xcode
    /// Unit tests of Apple's own libraries.
    case localTesting
    /// A word that Apple did not use when this was written; kept unchanged.
    case unrecognised(String)

    /// The environment that Apple's word names; an unknown word is kept.
    public init(_ word: String) {
        switch word {
        case "Production": self = .production
        case "Sandbox": self = .sandbox
        case "Xcode": self = .xcode
        case "LocalTesting": self = .localTesting
        default: self = .unrecognised(word)
        }
    }

    /// The environments that Apple names.
    public static let named: [StoreEnvironment] = [.production, .sandbox, .xcode, .localTesting]

    /// The environment that one of Apple's words in any letter case names; an unknown word is kept.
    public static func inAnyCase(_ word: String) -> StoreEnvironment {
        named.first { $0.word.lowercased() == word.lowercased() } ?? StoreEnvironment(word)
    }

    /// Apple's word, as stored in the log.
    public var word: String {
        switch self {
        case .production: "Production"
        case .sandbox: "Sandbox"
        case .xcode: "Xcode"
        case .localTesting: "LocalTesting"
        case .unrecognised(let word): word
        }
    }
}

extension StoreEnvironment: CustomStringConvertible {
    /// Apple's word.
    public var description: String { word }
}

extension StoreEnvironment: Codable {
    /// Reads Apple's word.
    public init(from decoder: any Decoder) throws {
        self.init(try decoder.singleValueContainer().decode(String.self))
    }

    /// Writes Apple's word.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(word)
    }
}
