import AppStore
import ArgumentParser
import CommandSupport
import Subledger
import SubledgerAppStore

extension PollReport {
    /// The exit code for scripts; nil for success.
    var exitCode: ExitCode? {
        if rejected > 0 { return Exit.badInput }
        if failures.contains(where: { $0.reason == "refused" }) { return Exit.notFound }
        return left > 0 || failed > 0 || retryAt != nil ? Exit.tryAgain : nil
    }

    /// Prints what was not answered, on stderr.
    func printFailures(of command: String) {
        for failure in failures {
            let subject = failure.originalTransactionId ?? "notifications"
            Terminal.write("\(command): \(subject): \(failure.message)")
        }
        if failed > failures.count {
            Terminal.write("\(command): and \(counted(failed - failures.count, "failure")) more")
        }
        for (reason, message) in rejections.sorted(by: { $0.key < $1.key }) {
            Terminal.write("\(command): answers were refused: \(message) [\(reason)]")
        }
        if rejections[Rejection.Code.chainUntrusted.rawValue] != nil {
            Terminal.write(
                "\(command): if you trust the signer, pass its root with --root-certificate FILE; "
                    + "`subledger simulate --serve` writes that of its store to root.der"
            )
        }
        if rejected > 0 {
            Terminal.write("\(command): `subledger rejections` lists the refused answers")
        }
    }

    /// The report as text.
    var table: String {
        var table = TextTable(["", "count"])
        table.add(["subscriptions asked about", "\(answered)"])
        for (reason, count) in reasons.sorted(by: { $0.key < $1.key }) {
            table.add(["  selected: \(reason)", "\(count)"])
        }
        table.add(["  with new events", "\(withNews)"])
        if skipped > 0 { table.add(["  skipped: answered recently", "\(skipped)"]) }
        if left > 0 { table.add(["  left for the next round", "\(left)"]) }
        if failed > 0 { table.add(["  not answered", "\(failed)"]) }
        if notificationsAsked > 0 || missedNotifications > 0 {
            table.add(["notifications fetched", "\(missedNotifications)"])
            table.add(["  new to the log", "\(newNotifications)"])
        } else if notificationsSkipped > 0 {
            table.add(["notifications fetched", "none: asked for recently"])
        }
        table.add(["requests", "\(requests)"])
        table.add(["new events", "\(appended)"])
        if rejected > 0 { table.add(["refused answers", "\(rejected)"]) }
        if unreadable > 0 { table.add(["unreadable subscriptions", "\(unreadable)"]) }
        if let retryAt { table.add(["continue at", "\(retryAt)"]) }
        return table.text
    }
}
