/// The version of this program.
package enum ProgramVersion {
    /// The text, as `subledger --version` prints it.
    package static let text = "0.1.0"
}
