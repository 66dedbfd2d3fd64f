-- For people and reports in SQL: the canonical bytes of event.content as JSON. No answer of the
-- ledger is read from it, and no digest is ever taken over it. U+0000, which jsonb cannot hold, is
-- shown as U+FFFD; a tag of a later version as `tag` and its number, with the value in hexadecimal.
CREATE OR REPLACE FUNCTION ledger.content_fields(content bytea) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    names constant jsonb := '{
        "1": "transactionId", "2": "webOrderLineItemId", "3": "productId",
        "4": "subscriptionGroupIdentifier", "5": "type", "6": "inAppOwnershipType",
        "7": "transactionReason", "8": "quantity", "9": "storefront", "10": "storefrontId",
        "11": "currency", "12": "price", "13": "isUpgraded", "14": "offerType",
        "15": "offerIdentifier", "16": "offerDiscountType", "17": "offerPeriod",
        "18": "revocationDate", "19": "revocationReason", "20": "revocationType",
        "21": "revocationPercentage", "22": "appAccountToken", "23": "appTransactionId",
        "24": "previousOriginalTransactionId", "25": "customerId", "26": "linkReason",
        "27": "linkedBy", "28": "erasureReason", "29": "erasedBy", "32": "autoRenewProductId",
        "33": "autoRenewStatus", "34": "expirationIntent", "35": "isInBillingRetryPeriod",
        "36": "gracePeriodExpiresDate", "37": "priceIncreaseStatus", "38": "renewalDate",
        "39": "renewalPrice", "40": "recentSubscriptionStartDate", "48": "notificationType",
        "49": "subtype", "50": "notificationUUID", "51": "status",
        "52": "consumptionRequestReason", "53": "catalogVersion", "54": "effectiveFrom",
        "55": "bodyDigest", "56": "fileName", "57": "keptAside",
        "58": "erasureScope", "59": "erasedEvents", "60": "erasedConfirmations",
        "61": "erasedEvidence", "63": "extra"}';
    numeric_tags constant int[] :=
        '{8,12,14,18,19,21,33,34,36,37,38,39,40,51,53,54,57}';
    fields jsonb := '{}';
    at int := 2;
    tag int;
    size int;
    shift int;
    part int;
    raw bytea;
BEGIN
    WHILE at < octet_length(content) LOOP
        tag := get_byte(content, at);
        at := at + 1;
        size := 0;
        shift := 0;
        LOOP
            part := get_byte(content, at);
            at := at + 1;
            size := size | ((part & 127) << shift);
            EXIT WHEN part < 128;
            shift := shift + 7;
        END LOOP;
        raw := substr(content, at + 1, size);
        at := at + size;
        fields := fields || jsonb_build_object(
            coalesce(names ->> tag::text, 'tag' || tag),
            CASE
                WHEN NOT names ? tag::text THEN to_jsonb(encode(raw, 'hex'))
                WHEN tag = 63 THEN ledger.json_or_text(ledger.text_without_nul(raw))
                WHEN tag = ANY (numeric_tags)
                    THEN to_jsonb(('x' || encode(raw, 'hex'))::bit(64)::bigint)
                WHEN tag IN (13, 35) THEN to_jsonb(get_byte(raw, 0) = 1)
                ELSE to_jsonb(ledger.text_without_nul(raw))
            END);
    END LOOP;
    RETURN fields;
END
$$;
COMMENT ON FUNCTION ledger.content_fields(bytea) IS
    'The fields of event.content under Apple''s names; instants as milliseconds.';
