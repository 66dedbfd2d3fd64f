import Events
import X509

/// An app receipt whose signature was checked: its content, and the root that vouches for it.
struct OpenedReceipt: Sendable {
    /// Its content.
    let receipt: AppReceipt
    /// The fingerprint of the root.
    let root: Events.Digest
    /// Whether it was signed by Xcode rather than by the App Store.
    let isLocal: Bool
}
