import Foundation
import TestSupport
import Testing

@testable import Postgres

/// The defaults of a session, and who may override them.
@Suite(.enabled { await TestServer.isAvailable })
struct ConnectionDefaultsTests {
    @Test func `a session detects a dead peer by default, and the connection string overrides it`()
        async throws
    {
        let settings = try await TestServer.shared.settings()
        let usual = try Connection(settings)
        #expect(usual.option("keepalives") == "1")
        #expect(usual.option("keepalives_idle") == "30")
        #expect(usual.option("keepalives_interval") == "5")
        #expect(usual.option("keepalives_count") == "3")
        #expect(usual.option("tcp_user_timeout") == "20000")
        #expect(usual.option("connect_timeout") == "10")
        let asked = "keepalives=0 keepalives_idle=7 tcp_user_timeout=1234 connect_timeout=11"
        let own = try Connection(ConnectionSettings("\(settings.connectionString) \(asked)"))
        #expect(own.option("keepalives") == "0")
        #expect(own.option("keepalives_idle") == "7")
        #expect(own.option("keepalives_count") == "3")
        #expect(own.option("tcp_user_timeout") == "1234")
        #expect(own.option("connect_timeout") == "11")
    }

    @Test func `a session overrides the server's idle transaction timeout and read-only default`()
        async throws
    {
        try await TestServer.shared.withDatabase { settings in
            let admin = try await PostgresSession.connect(settings)
            let name = try #require(settings.database)
            try await admin.execute(
                """
                ALTER DATABASE \(name) SET idle_in_transaction_session_timeout = '1ms';
                ALTER DATABASE \(name) SET default_transaction_read_only = on;
                """
            )
            let session = try await PostgresSession.connect(settings)
            try await session.query("CREATE TABLE public.t (i int)")
            try await session.transaction(.readOnlySnapshot) { db throws(PostgresError) in
                try db.query("SELECT 1")
                usleep(50_000)
                try db.query("SELECT 1")
            }
        }
    }
}
