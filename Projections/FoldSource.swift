public import Events

/// The source of all folds, as a number: tables say with it which source made them.
public enum FoldSource {
    /// SHA-256 of the code in `Projections` and `Sources/Events`, comments and layout left out.
    ///
    /// Kept by `make snapshot` and compared by the tests, so that no fold changes unnoticed.
    public static let digest = kept(
        "191b4ec70d502cf3617d6dc382f47026d98faeeb4d026fc185691c2f36e3f9a1"
    )

    private static func kept(_ hex: String) -> Digest {
        guard let digest = Digest(hex: hex) else {
            preconditionFailure("\(hex) is no SHA-256 in hexadecimal digits")
        }
        return digest
    }
}
