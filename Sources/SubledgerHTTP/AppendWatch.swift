internal import EventLog
internal import Logging

/// Whether appends work, asked once for all who want to know.
actor AppendWatch {
    private let log: EventLog
    private let limits: ServiceLimits
    private let outages: OutageLog
    private let logger: Logger
    private var asking: Task<EventLogError?, Never>?
    private var workedAt: ContinuousClock.Instant?
    private var last: EventLogError.Code?
    private var isNamed = false

    /// Watches the appends of a log.
    init(_ log: EventLog, _ limits: ServiceLimits, _ outages: OutageLog, _ logger: Logger) {
        self.log = log
        self.limits = limits
        self.outages = outages
        self.logger = logger
    }

    /// Why an append would fail now; nil if it would be accepted.
    func fault() async -> EventLogError.Code? {
        if let workedAt, ContinuousClock.now - workedAt < .seconds(limits.readinessSecondsMax) {
            return nil
        }
        if let asking { return await asking.value?.code }
        let asked = Task { [log, limits] in
            await log.appendFault(
                freshSeconds: limits.readinessSecondsMax,
                waitSeconds: limits.readinessWaitSecondsMax
            )
        }
        asking = asked
        let fault = await asked.value
        asking = nil
        workedAt = fault == nil ? .now : nil
        note(fault)
        return fault?.code
    }

    // One line when it changes: load balancers ask every few seconds.
    private func note(_ fault: EventLogError?) {
        guard fault?.code != last else { return }
        last = fault?.code
        if let fault {
            // An outage has lines of its own.
            isNamed = !outages.takes(fault)
            guard isNamed else { return }
            logger.error("the service is not ready", metadata: ["error": "\(fault)"])
        } else if isNamed {
            logger.notice("the service is ready again")
        }
    }
}
