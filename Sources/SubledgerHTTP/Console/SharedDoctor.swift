internal import Subledger

/// Checks the database once for all who ask at the same time: each run opens several connections.
actor SharedDoctor {
    private let ledger: Ledger
    private let limit: AnswerLimit
    private var run: Task<[DoctorCheck], Never>?

    /// The checks of a ledger's database.
    ///
    /// - Parameters:
    ///   - ledger: The ledger.
    ///   - secondsMax: How long they may take, together; 0 for any time.
    init(_ ledger: Ledger, secondsMax: Double) {
        self.ledger = ledger
        limit = AnswerLimit(seconds: secondsMax)
    }

    /// What `doctor` finds in the database.
    func checks() async -> [DoctorCheck] {
        if let run { return await run.value }
        let started = Task { [ledger, limit] in
            do {
                return try await limit.run { await DatabaseChecks(of: ledger).run() }
            } catch {
                return [DoctorCheck.notChecked("database", Problem(error).detail)]
            }
        }
        run = started
        defer { run = nil }
        return await started.value
    }
}
