/// What the batches of an appender showed about whether the database accepts appends.
struct AppendSigns: Sendable {
    private var begunAt: ContinuousClock.Instant?
    private var committedAt: ContinuousClock.Instant?
    private var fault: (error: EventLogError, at: ContinuousClock.Instant)?

    /// Seconds for which a fault counts unless a commit succeeds: then appends are let through again,
    /// because a probe does not write where an append does.
    private static let faultSecondsMax = 10.0

    /// A batch begins.
    mutating func begin() { begunAt = .now }

    /// A commit was made.
    mutating func committed() { (committedAt, fault) = (.now, nil) }

    /// A batch ended; with an error unless it succeeded.
    mutating func end(_ error: EventLogError?) {
        begunAt = nil
        guard let error, AppendSigns.isOfDatabase(error.code) else { return }
        fault = (error, .now)
    }

    /// What the batches show now.
    enum Finding {
        case works
        case fails(EventLogError)
        /// Only a probe can answer.
        case unknown
    }

    /// Whether appends work.
    ///
    /// - Parameters:
    ///   - freshSeconds: How long a commit shows that they do.
    ///   - waitSeconds: How long a batch may take before it shows that they do not.
    /// - Returns: What the batches show.
    func finding(freshSeconds: Double, waitSeconds: Double) -> Finding {
        let now = ContinuousClock.now
        if let fault, now - fault.at < .seconds(AppendSigns.faultSecondsMax) {
            return .fails(fault.error)
        }
        if let begunAt {
            // A probe would have to wait for the batch.
            guard now - begunAt >= .seconds(waitSeconds) else { return .works }
            return .fails(
                EventLogError(
                    .databaseUnavailable,
                    "append: the database has not answered for \(now - begunAt); a lock, or a "
                        + "standby that does not confirm, may hold the commit"
                )
            )
        }
        if let committedAt, now - committedAt < .seconds(freshSeconds) { return .works }
        return .unknown
    }

    // Whether the next append would fail for the same reason.
    private static func isOfDatabase(_ code: EventLogError.Code) -> Bool {
        switch code {
        case .databaseUnavailable, .lanesUnavailable, .tooManyConnections, .diskFull, .clockSkew,
            .permissionDenied, .roleMissing, .rowsDropped, .malformedLog, .schemaTooNew,
            .notMigrated, .sharedConnection, .invalidSettings:
            true
        case .schemaTooOld, .migrationEdited, .notUTF8, .laneCountFixed, .notDistributable,
            .tableInUse, .database, .catalogTaken, .tooManyFacts, .tooManyStreams,
            .cursorNotOfLog, .cursorBeyondLog, .temporaryFile, .evidenceFile, .sharedPayloads,
            .queueFull, .consumerInUse, .consumerOfOtherStream, .closed:
            false
        }
    }
}
