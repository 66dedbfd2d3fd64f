internal import EventLog
internal import Events
internal import Metrics

// What the service and its database can do now, and what clients did wrong.
extension ServiceMetrics {
    /// Why appends fail, as far as alerts distinguish it.
    static let appendFaults: [EventLogError.Code] = [
        .databaseUnavailable, .lanesUnavailable, .tooManyConnections, .diskFull, .clockSkew,
        .tableInUse, .permissionDenied,
    ]

    /// Creates the series of state at zero.
    func createStateSeries() {
        for fault in ClientFault.allCases { clientFaults(fault).increment(by: 0) }
        setFaults(nil)
        for limit in SenderLimits.Limit.allCases { limited(limit).increment(by: 0) }
        set([:], [:])
    }

    /// Counts a notification that a limit refused.
    func count(_ limit: SenderLimits.Limit) { limited(limit).increment() }

    private func limited(_ limit: SenderLimits.Limit) -> Counter {
        counter(.limited, [("limit", limit.rawValue)])
    }

    /// Sets what is stored of refused payloads, and what was not.
    func set(
        _ stored: [Standing: StoredRejections],
        _ omitted: [Standing: OmittedRejections]
    ) {
        for standing in Standing.allCases {
            let labels = [("standing", standing.rawValue)]
            let sums = stored[standing]
            set(.rejectionRows, sums?.rows ?? 0, labels)
            set(.rejectionRowsLimit, sums?.rowsMax ?? 0, labels)
            set(.rejectionBytes, sums?.bytes ?? 0, labels)
            set(.rejectionBytesLimit, sums?.bytesMax ?? 0, labels)
            let omitted = omitted[standing]
            registry.setCounter(
                Name.rejectionsOmitted.rawValue,
                to: Int64(omitted?.rows ?? 0),
                labels + [("part", "row")]
            )
            registry.setCounter(
                Name.rejectionsOmitted.rawValue,
                to: Int64(omitted?.bodies ?? 0),
                labels + [("part", "body")]
            )
        }
    }

    /// Sets the memory of this process.
    func setMemory() {
        guard let bytes = ProcessMemory.residentBytes() else { return }
        set(.residentMemory, bytes)
    }

    /// Counts a request that is not valid HTTP.
    func count(_ fault: ClientFault) { clientFaults(fault).increment() }

    private func clientFaults(_ fault: ClientFault) -> Counter {
        counter(.clientFaults, [("fault", fault.rawValue)])
    }

    /// Counts attempts to deliver messages to a webhook.
    func count(webhook: String, delivered: Int64, failed: Int64) {
        for (outcome, count) in [("delivered", delivered), ("failed", failed)] {
            counter(.webhookAttempts, [("webhook", webhook), ("outcome", outcome)])
                .increment(by: count)
        }
    }

    /// Sets whether appends work, and why not.
    func set(_ fault: EventLogError.Code?) {
        set(.databaseUp, fault == nil || fault == .lanesUnavailable ? 1 : 0)
        setFaults(fault)
    }

    private func setFaults(_ fault: EventLogError.Code?) {
        for code in Self.appendFaults {
            set(.appendFault, code == fault ? 1 : 0, [("reason", code.rawValue)])
        }
        let isOther = fault.map { !Self.appendFaults.contains($0) } ?? false
        set(.appendFault, isOther ? 1 : 0, [("reason", "other")])
    }
}
