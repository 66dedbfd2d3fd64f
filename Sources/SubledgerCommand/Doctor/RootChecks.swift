import AppStore
import CommandSupport
import EventLog
import Events
import Subledger

/// Whether payloads can be verified: the root certificates and their dates.
struct RootChecks {
    /// The files besides those that are built in.
    let files: [String]
    var now = Instant.systemClock()

    /// Enough time to get a new one, in milliseconds.
    private static let expirySoonMilliseconds: Int64 = 90 * 86_400_000

    /// One check of the built-in certificates, and one of each file.
    func run() -> [DoctorCheck] {
        var checks = [check(RootCertificate.apple, "Apple's, built in", renewal: "subledger")]
        for path in files {
            do {
                checks.append(check(try TrustOptions.roots(in: [path]), path, renewal: path))
            } catch let failure as Failure {
                checks.append(
                    .wrong("roots", failure.message, "pass the .cer or .pem file of a certificate")
                )
            } catch {
                checks.append(.wrong("roots", "\(path): \(error)", nil))
            }
        }
        return checks
    }

    private func check(
        _ roots: [RootCertificate],
        _ name: String,
        renewal: String
    ) -> DoctorCheck {
        let first = roots.min { $0.validTo < $1.validTo }
        guard let first else { return .wrong("roots", "\(name): no certificate", nil) }
        let action = "replace \(renewal) by a newer one; what was signed before stays valid"
        if first.validTo < now {
            return .wrong("roots", "\(name): \(first.subject) expired \(first.validTo)", action)
        }
        if let early = roots.first(where: { $0.validFrom > now }) {
            return .wrong(
                "roots",
                "\(name): \(early.subject) is valid only from \(early.validFrom) on",
                "check the clock of this machine"
            )
        }
        let words = "\(name): \(counted(roots.count, "certificate")), valid to \(first.validTo)"
        if first.validTo.milliseconds < now.milliseconds + Self.expirySoonMilliseconds {
            return .warning("roots", words, action)
        }
        return .ok("roots", words)
    }
}
