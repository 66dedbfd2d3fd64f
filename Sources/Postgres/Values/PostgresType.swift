/// A type of PostgreSQL by its object identifier, which is fixed for built-in types.
public struct PostgresType: RawRepresentable, Sendable, Hashable {
    /// The object identifier in `pg_type`.
    public let rawValue: UInt32

    /// Names a type by its object identifier.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// The server infers the type.
    public static let inferred = PostgresType(rawValue: 0)
    /// `boolean`.
    public static let bool = PostgresType(rawValue: 16)
    /// `bytea`.
    public static let bytea = PostgresType(rawValue: 17)
    /// `name`.
    public static let name = PostgresType(rawValue: 19)
    /// `bigint`.
    public static let int8 = PostgresType(rawValue: 20)
    /// `smallint`.
    public static let int2 = PostgresType(rawValue: 21)
    /// `integer`.
    public static let int4 = PostgresType(rawValue: 23)
    /// `text`.
    public static let text = PostgresType(rawValue: 25)
    /// `oid`.
    public static let oid = PostgresType(rawValue: 26)
    /// `json`.
    public static let json = PostgresType(rawValue: 114)
    /// `boolean[]`.
    public static let boolArray = PostgresType(rawValue: 1000)
    /// `bytea[]`.
    public static let byteaArray = PostgresType(rawValue: 1001)
    /// `integer[]`.
    public static let int4Array = PostgresType(rawValue: 1007)
    /// `text[]`.
    public static let textArray = PostgresType(rawValue: 1009)
    /// `bigint[]`.
    public static let int8Array = PostgresType(rawValue: 1016)
    /// `character(n)`.
    public static let bpchar = PostgresType(rawValue: 1042)
    /// `character varying`.
    public static let varchar = PostgresType(rawValue: 1043)
    /// `timestamp with time zone`.
    public static let timestamptz = PostgresType(rawValue: 1184)
    /// `uuid`.
    public static let uuid = PostgresType(rawValue: 2950)
    /// `uuid[]`.
    public static let uuidArray = PostgresType(rawValue: 2951)
    /// `jsonb`.
    public static let jsonb = PostgresType(rawValue: 3802)
}
