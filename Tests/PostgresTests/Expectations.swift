import Postgres
import Testing

/// The code of the error that the body throws; nil if it throws none.
func code<R>(_ body: () throws -> R) -> PostgresError.Code? {
    do {
        _ = try body()
        return nil
    } catch let error as PostgresError {
        return error.code
    } catch {
        Issue.record(error)
        return nil
    }
}

/// Repeats a query until it returns true; the server's answers are the only clock.
func waitUntil(_ session: PostgresSession, _ question: String) async throws {
    let deadline = ContinuousClock.now + .seconds(120)
    while ContinuousClock.now < deadline {
        let rows = try await session.query(question)
        if try rows.single().bool(0) { return }
        await Task.yield()
    }
    Issue.record("It never became true: \(question)")
}
