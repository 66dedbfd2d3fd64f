import Projections

/// How a case of a refund, or a purchase, stands: for people, where JSON has the raw words.
enum RefundWords {
    /// The state and the kind of the refund, as they are in JSON, in words.
    static func text(_ state: String, _ kind: String?) -> String {
        switch kind {
        case nil: state
        case RefundCase.Kind.untyped.rawValue: "\(state) (type not stated)"
        case RefundCase.Kind.replaced.rawValue: "\(state) by upgrade"
        case let kind?: "\(state) \(kind)"
        }
    }
}
