/// Unsigned values from around a piece of evidence that were used with it, and why they are
/// believed.
///
/// A response of the App Store Server API names the environment of everything in it, once and
/// unsigned. The response is split up and not kept; a value of it that was used is kept here. With
/// this context, the piece yields the same facts again.
public struct EvidenceContext: Hashable, Sendable {
    /// The environment for a piece that names none itself; nil if the value was not used.
    public let environment: StoreEnvironment?
    /// Why the value is believed.
    public let trust: Trust

    /// An environment with the reason to believe it.
    public init(environment: StoreEnvironment?, trust: Trust) {
        self.environment = environment
        self.trust = trust
    }

    /// Why unsigned values are believed, the strongest reason first.
    ///
    /// The raw value is stored with the evidence: add cases, never rename them. `fetched` and
    /// `vouched` are spelt as in `Verification.Trust`.
    public enum Trust: String, CaseIterable, Sendable {
        /// Our own client fetched the response from Apple over TLS.
        case fetched
        /// The operator vouches for the response, or named the environment to be assumed.
        case vouched
        /// Neither signed nor vouched for: such a value can demote to Sandbox and do nothing else.
        case unproven
    }
}

extension EvidenceContext {
    /// The environment, if a value of this trust may decide it.
    ///
    /// Only the operator may declare a purchase real; any source may declare it a test.
    package var decidedEnvironment: StoreEnvironment? {
        trust == .vouched || environment == .sandbox ? environment : nil
    }

    /// The context as compact JSON, names sorted: `{"environment":"Sandbox","trust":"unproven"}`.
    ///
    /// The same context always has the same text. A missing environment is omitted.
    public var canonicalText: String {
        var output: [UInt8] = Array("{".utf8)
        if let environment {
            output += "\"environment\":".utf8
            JSONString.append(environment.word.utf8, to: &output)
            output += ",".utf8
        }
        output += "\"trust\":\"\(trust.rawValue)\"}".utf8
        return String(decoding: output, as: UTF8.self)
    }

    /// Parses a text that `canonicalText` returned; nil for any other.
    public init?(canonicalText: String) {
        let text = Array(canonicalText.utf8)
        guard let context = EvidenceContext(parsing: text[...]),
            context.canonicalText.utf8.elementsEqual(text)
        else { return nil }
        self = context
    }

    private init?(parsing text: ArraySlice<UInt8>) {
        let tails = Trust.allCases.map { ($0, Array("\"trust\":\"\($0.rawValue)\"}".utf8)) }
        guard let (trust, tail) = tails.first(where: { text.suffix($0.1.count) == $0.1[...] })
        else { return nil }
        let head = text.dropLast(tail.count)
        let start = Array("{\"environment\":\"".utf8)
        guard head.starts(with: start) else {
            self.init(environment: nil, trust: trust)
            return
        }
        guard let word = JSONString.decoded(head.dropFirst(start.count).dropLast("\",".utf8.count))
        else { return nil }
        let name = String(decoding: word, as: UTF8.self)
        self.init(environment: StoreEnvironment(name), trust: trust)
    }
}
