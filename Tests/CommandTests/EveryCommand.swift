import Foundation
import TestSupport
import Testing

/// A command of the program with arguments that make sense, and the exit codes to expect.
struct EveryCommand: Sendable, CustomTestStringConvertible {
    /// The commands, and after them arguments with `{placeholders}`.
    let words: [String]
    /// The exit code on a ledger without events; nil if it is not run there.
    let onEmpty: Int32?
    /// The exit code on a ledger with events and tables; nil if it is not run there.
    let onFilled: Int32?

    var testDescription: String { words.joined(separator: " ") }

    /// Every command.
    ///
    /// First those that only read, so that the empty ledger stays empty for them. `doctor` finds
    /// that the server of tests does not flush.
    static let all = table.split(separator: "\n").map { line in
        let cells = line.split(separator: "|", omittingEmptySubsequences: false).map {
            $0.trimmingCharacters(in: .whitespaces)
        }
        return EveryCommand(
            words: cells[0].split(separator: " ").map(String.init),
            onEmpty: Int32(cells[1]),
            onFilled: Int32(cells[2])
        )
    }

    /// Options that several lines need, or that are too long for one.
    static let options = [
        "{revocation}": [
            "--seats", "1", "--refund", "full", "--reason", "other", "--no-refund-risking",
        ],
        "{extension}": ["--days", "3", "--reason", "outage"],
        "{usage}": ["--customer-consented", "--delivery", "delivered", "--no-sample-provided"],
    ]

    private static let table = """
        access {id} --at {at}                                      | 4  | 0
        explain {id} --at {at}                                     | 4  | 0
        periods {id}                                               | 4  | 0
        state {id}                                                 | 4  | 0
        changes {id}                                               | 4  | 0
        refunds {id}                                               | 4  | 0
        charges {id}                                               | 4  | 0
        eligibility {id}                                           | 4  | 0
        entitlements {id} --at {at}                                | 0  | 0
        history {id}                                               | 4  | 0
        diff {id} --known 1..2                                     | 4  | 0
        replay {id}                                                | 4  | 0
        blame {id} --at {at}                                       | 4  | 0
        event 1                                                    | 4  | 0
        due --within 30d --at {at}                                 | 0  | 0
        streams                                                    | 0  | 0
        customers list                                             | 0  | 0
        customers claims                                           | 0  | 0
        customers export {id} --to {folder}/person                 | 4  | 0
        rejections                                                 | 0  | 0
        catalog list                                               | 0  | 0
        rates list                                                 | 0  | 0
        tables list                                                | 0  | 0
        tables describe                                            | 78 |
        verify                                                     | 0  | 0
        report list                                                | 0  | 0
        report ask active                                          | 78 | 0
        report ingest-quality                                      | 0  | 0
        report drift                                               | 0  | 0
        report wrong-answers                                       | 0  | 0
        report anomalies                                           | 0  | 0
        report gaps                                                | 0  | 3
        report close {month} --out {folder}/close                  | 4  | 0
        feed                                                       | 0  | 0
        effects                                                    | 0  | 0
        webhooks list                                              | 0  | 0
        alerts                                                     | 0  | 0
        consumers list                                             | 0  | 0
        consumers remove nobody                                    | 4  | 4
        database status                                            | 4  | 4
        database url                                               | 0  | 0
        doctor --root-certificate {root}                           | 1  | 1
        migrate status                                             | 0  | 0
        migrate up                                                 | 0  | 0
        checkpoint                                                 | 0  | 0
        rebuild                                                    | 0  | 0
        follow --once                                              | 0  | 0
        tables diff                                                | 0  | 0
        tables promote                                             | 0  | 0
        tables check                                               | 0  | 0
        tables discard                                             | 0  | 0
        export transactions --out {folder}/export                  | 0  | 0
        tokens create ops --role support                           | 0  | 0
        tokens list                                                | 0  | 0
        tokens revoke ops                                          | 0  | 0
        webhooks add hook https://127.0.0.1:9 --allow-private      | 0  | 0
        webhooks rotate hook                                       | 0  | 0
        webhooks pause hook                                        | 0  | 0
        webhooks replay hook                                       | 0  | 0
        webhooks test hook                                         | 75 | 75
        webhooks deliver --once                                    | 0  | 0
        webhooks remove hook                                       | 0  | 0
        catalog import {catalog}                                   | 0  | 0
        catalog show                                               | 0  | 0
        catalog diff                                               | 4  | 4
        rates import {rates}                                       | 0  | 0
        customers import {links} --reason import --by ops          | 65 | 0
        customers show ann                                         | 4  | 0
        customers unlink ann {id} --reason support --by ops        | 4  | 0
        customers link ann {id} --reason support --by ops          | 4  | 0
        apple extend {id} {extension} {store}                      | 0  | 0
        apple extend-all {product} {extension} {store}             | 0  | 0
        apple extension-status {product} request {store}           | 4  | 4
        apple consumption {id} {usage} {store}                     | 0  | 0
        apple revoke-seats {id} {revocation} {store}               | 0  | 0
        apple groups 7 {sandbox}                                   | 0  | 0
        apple members G{seats} {sandbox}                           | 0  | 0
        apple seats {seats} {sandbox}                              | 0  | 0
        apple claim-seat {seats} --app-transaction-id 7 {sandbox}  | 0  | 0
        apple unclaim-seat {seats} claim {sandbox}                 | 0  | 0
        apple associate-seat {seats} claim 7 {sandbox}             | 0  | 0
        poll --all {store}                                         | 0  | 0
        backfill --all --dry-run {store}                           | 0  | 0
        import {ids} --pause 0s {store}                            | 0  | 0
        repair --reason test --by ops                              | 0  | 0
        evidence move --before now --to {folder}                   | 0  | 0
        erase returned                                             | 0  | 0
        erase customer ann --reason request --by ops               | 4  | 0
        erase subscription {other} --reason request --by ops       | 0  | 0
        ingest --root-certificate {root} {payloads}                | 65 | 65
        simulate --subscriptions 2 --out {folder}/simulated        | 0  | 0
        demo --subscriptions 2                                     | 0  | 0
        database start                                             |    |
        database stop                                              |    |
        up --port 0                                                |    |
        serve --port 0 --root-certificate {root}                   |    |
        mcp                                                        |    |
        """
}
