internal import EventLog
internal import Events
internal import Projector

/// Findings from the answers of a database, for the operator of its ledger.
extension LedgerInspector.Server {
    /// Whether an append that was answered survives a crash.
    var durabilityCheck: DoctorCheck {
        guard flushesCommits else {
            return .wrong(
                "durability",
                "fsync is off: a crash of the server can lose or damage the log",
                "set fsync = on in postgresql.conf, and reload"
            )
        }
        guard repairsPages else {
            return .warning(
                "durability",
                "full_page_writes is off: a crash can damage pages that are half written",
                "set full_page_writes = on, unless the file system writes pages whole"
            )
        }
        if isStandby {
            return .warning(
                "durability",
                "the server is a standby: it answers questions and takes no appends",
                "for `ingest`, `serve` and `poll`, connect to the primary"
            )
        }
        return .ok("durability", "commits are flushed: fsync and full_page_writes are on")
    }

    /// The privileges of the user.
    var roleCheck: DoctorCheck {
        guard !roles.isEmpty else {
            return .wrong(
                "role",
                "the user \(user) has none of the roles of the ledger",
                "run `subledger migrate` if there is no ledger yet, then GRANT ledger_writer or "
                    + "ledger_reader to the user"
            )
        }
        return .ok("role", "\(user) may act as \(roles.joined(separator: ", "))")
    }

    /// Whether a schema takes precedence in the sessions of a role that others can fill.
    var namesCheck: DoctorCheck {
        guard !schemasLikeRoles.isEmpty else {
            return .ok("names", "no schema is called like a role, unless only that role fills it")
        }
        return .warning(
            "names",
            "called like a role: \(counted(schemasLikeRoles.count, "schema")) "
                + "\(schemasLikeRoles.joined(separator: ", ")). Subledger looks nothing up there; "
                + "psql and other programs of that role do, and run what others put there",
            "rename or drop it, or ALTER ROLE … SET search_path = pg_catalog"
        )
    }

    /// The free space, if it can be determined.
    var diskCheck: DoctorCheck {
        guard isLocal, let dataFolder else {
            return .notChecked(
                "disk",
                isLocal
                    ? "\(user) may not know where the server keeps its data"
                    : "the server is on another machine, or connected to over TCP"
            )
        }
        guard let space = DiskSpace(of: dataFolder) else {
            return .notChecked("disk", "the server's folder \(dataFolder) is not visible here")
        }
        return space.check
    }
}

extension LedgerInspector.Clocks {
    /// Smaller offsets do not need a warning, in milliseconds.
    private static let warningMilliseconds: Int64 = 5000

    /// Whether appends are accepted with the current clocks.
    func check(skewSecondsMax: Int64) -> DoctorCheck {
        let most = skewSecondsMax.multipliedReportingOverflow(by: 1000)
        let bound = most.overflow ? Int64.max : most.partialValue
        let action =
            "set the clocks of both machines by NTP; appends are refused beyond "
            + "\(skewSecondsMax) s"
        if let ahead = newestCommitAheadMilliseconds, ahead > bound {
            return .wrong(
                "clock",
                "the newest commit is \(durationWords(Double(ahead) / 1000)) ahead of the server's "
                    + "clock",
                action
            )
        }
        let offset = abs(serverAheadMilliseconds)
        let words =
            "the server's clock is \(offset < 1000 ? "\(offset) ms" : durationWords(Double(offset) / 1000)) "
            + "\(serverAheadMilliseconds < 0 ? "behind" : "ahead of") this machine's"
        // An offset within the round-trip time may be no difference at all.
        if offset - roundTripMilliseconds / 2 > bound { return .wrong("clock", words, action) }
        if offset - roundTripMilliseconds / 2 > Self.warningMilliseconds {
            return .warning("clock", words, action)
        }
        return .ok("clock", words)
    }
}

extension ConsumerPlace {
    /// How long a consumer may stand although there is news, in seconds.
    private static let idleSecondsMax = 86_400.0

    /// Whether consumers have stopped.
    static func check(_ consumers: [ConsumerPlace]) -> DoctorCheck {
        let stopped = consumers.filter { consumer in
            consumer.lag.map { $0 > 0 && consumer.idleSeconds > idleSecondsMax } ?? true
        }
        guard let first = stopped.first else {
            return .ok(
                "consumers",
                consumers.isEmpty ? "none" : "\(counted(consumers.count, "consumer")), none stopped"
            )
        }
        let behind =
            first.lag.map { "\(counted($0, "event")) behind" } ?? "not at a place of this log"
        let more = stopped.count > 1 ? ", and \(stopped.count - 1) more" : ""
        return .warning(
            "consumers",
            "\(first.name) has not moved for \(durationWords(first.idleSeconds)), and is "
                + "\(behind)\(more)",
            first.name.hasPrefix(Webhook.consumerPrefix)
                ? "`subledger webhooks` prints why it stopped, and `subledger webhooks pause NAME --off` "
                    + "continues"
                : "start its reader again, or remove it with `subledger consumers remove`"
        )
    }
}

extension Projector.Table {
    /// How long an event may wait for the tables before it is worth a warning, in milliseconds.
    private static let lagMillisecondsMax: Int64 = 60_000

    /// Whether the live tables include the whole log.
    ///
    /// - Parameters:
    ///   - tables: All tables.
    ///   - oldest: When the oldest event that one of them lacks was recorded.
    ///   - now: Our clock.
    /// - Returns: The finding.
    static func check(_ tables: [Projector.Table], oldest: Instant?, now: Instant) -> DoctorCheck {
        let live = tables.filter { $0.state == .live && $0.isKnown }
        guard !live.isEmpty else {
            return .notChecked(
                "tables",
                "there are none; questions are answered from the log",
                "for reports and SQL, run `subledger rebuild`, then `subledger follow`"
            )
        }
        guard live.allSatisfy({ $0.lag >= 0 }) else {
            return .wrong(
                "tables",
                "they state that they contain more events than the log has",
                "run `subledger verify`, then `subledger rebuild`"
            )
        }

        let stale = live.filter { !$0.isCurrent && $0.policy == nil }
        guard stale.isEmpty else {
            return .warning(
                "tables",
                "other folds than this program's built \(stale.map(\.name).joined(separator: ", "))",
                "run `subledger tables diff`, then `subledger tables promote`"
            )
        }

        let refused = live.map(\.refused).max() ?? 0
        guard refused == 0 else {
            return .warning(
                "tables",
                "a fold refused \(counted(refused, "subscription"))",
                "run `subledger tables check` to see which, and why"
            )
        }

        let age = oldest.map { now.milliseconds - $0.milliseconds } ?? 0
        guard age <= lagMillisecondsMax else {
            return .warning(
                "tables",
                "\(counted(live.map(\.lag).max() ?? 0, "event")) behind the log, the oldest for "
                    + durationWords(Double(age) / 1000),
                "run `subledger follow`, or `subledger serve --follow`"
            )
        }
        let others = tables.filter { $0.state == .live && $0.isForeign }.map(\.owned)
        let rest =
            others.isEmpty ? "" : "; other programs update \(others.joined(separator: ", "))"
        return .ok(
            "tables",
            "\(counted(live.count, "table")) contain the log's newest events\(rest)"
        )
    }
}

extension LedgerInspector.NewestCheckpoint? {
    /// A checkpoint a day, and one day to notice that it was not taken, in milliseconds.
    private static var ageMillisecondsMax: Int64 { 48 * 3_600_000 }

    /// Whether there is a recent checkpoint that matches this log.
    ///
    /// - Parameter datedLater: Number of rows that are dated later than the server's clock.
    /// - Returns: The finding.
    func check(datedLater: Int64) -> DoctorCheck {
        let action = "take one daily with `subledger checkpoint --key FILE`, and keep it elsewhere"
        let forged =
            datedLater == 0
            ? ""
            : "; not counting \(counted(datedLater, "row")) of ledger.checkpoint dated later than "
                + "the server's clock, as any writer can insert"
        guard let newest = self else {
            return .warning("checkpoint", "none was ever stored in this ledger\(forged)", action)
        }
        if let mismatch = newest.mismatch {
            return .wrong(
                "checkpoint",
                "the log does not contain commit \(mismatch.commit) of lane \(mismatch.lane) as "
                    + "the checkpoint of \(newest.takenAt) recorded it: the database was restored "
                    + "from an older backup, or changed",
                "stop appending and run `subledger verify`"
            )
        }
        let age = durationWords(Double(newest.ageMilliseconds) / 1000)
        let words = "the newest is \(age) old\(newest.isSigned ? "" : ", and not signed")\(forged)"
        guard newest.ageMilliseconds <= Self.ageMillisecondsMax else {
            return .warning("checkpoint", words, action)
        }
        guard datedLater == 0 else {
            return .warning(
                "checkpoint",
                words,
                "`subledger verify` names such rows; find the member of ledger_writer that inserted "
                    + "them. The owner of the table can delete them while its trigger "
                    + "append_only_statement is disabled; `subledger migrate` enables it again"
            )
        }
        return .ok("checkpoint", words)
    }
}
