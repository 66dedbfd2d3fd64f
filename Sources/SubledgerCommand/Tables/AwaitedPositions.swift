import ArgumentParser
import EventLog
import Subledger

/// What `--wait-for` names: some events of the log, and nothing of the lanes that it leaves out.
struct AwaitedPositions {
    /// The offsets by lane.
    let vector: PositionVector
    // Written without its lane, which only a ledger of one lane takes.
    private let isBare: Bool

    /// Reads an offset, or `lane:offset` pairs separated by commas; refuses all else.
    init(_ text: String) throws {
        guard case .offsets(let offsets)? = KnownAt(text) else {
            throw ValidationError(
                "'\(text.prefix(80))' is not a position; expected what `ingest` and `feed` "
                    + "print: an offset (1391877), or lane:offset pairs (0:17,1:4) if the ledger "
                    + "has several lanes"
            )
        }
        vector = PositionVector(offsets)
        isBare = !text.contains(":")
    }

    /// Refuses what this ledger does not have.
    func check(in log: EventLog) async throws {
        let lanes = log.identity.lanes
        guard !isBare || lanes == .one else {
            throw ValidationError(
                "--wait-for names an offset without its lane, and this ledger has "
                    + "\(lanes.value) lanes: write LANE:OFFSET"
            )
        }
        try await vector.check("--wait-for", takesInstant: false, naming: [], in: log)
    }
}
