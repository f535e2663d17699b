#include "engine/memory/long_term_memory.h"

#include "engine/memory/memory_entry.h"

#include <sqlite3.h>

#include <chrono>
#include <cmath>
#include <map>
#include <mutex>
#include <system_error>
#include <utility>

namespace kernelskill::engine {
namespace {

/// "KSLM": tells our file from any other SQLite file.
constexpr int applicationId = 0x4b534c4d;
constexpr int schemaVersion = 1;
/// Records rank skills: what another process found out a moment ago can wait.
constexpr std::chrono::milliseconds recordsMayBeOld{500};

constexpr const char* schema = R"sql(
    CREATE TABLE outcome (
        id INTEGER PRIMARY KEY,
        time TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
        skill TEXT NOT NULL,
        bottleneck TEXT NOT NULL,
        architecture TEXT NOT NULL,
        kernel_hash TEXT NOT NULL,
        status TEXT NOT NULL,
        log_speedup REAL
    );
    CREATE INDEX outcome_by_bottleneck ON outcome (bottleneck, architecture, skill, kernel_hash);
)sql";

// Only the last outcome of a skill on a kernel counts: trying the same thing again is no new
// knowledge.
constexpr const char* recordsQuery = R"sql(
    WITH last AS (
        SELECT max(id) AS id FROM outcome
        WHERE bottleneck = ?1 AND (?2 = '' OR architecture = ?2)
        GROUP BY skill, kernel_hash, architecture
    )
    SELECT skill, count(*), sum(status NOT IN ('incorrect', 'invalid')), avg(log_speedup)
    FROM outcome JOIN last USING (id) GROUP BY skill ORDER BY skill
)sql";

struct CloseDatabase {
    void operator()(sqlite3* database) const { sqlite3_close(database); }
};
struct FinalizeStatement {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Database = std::unique_ptr<sqlite3, CloseDatabase>;
using Statement = std::unique_ptr<sqlite3_stmt, FinalizeStatement>;

Error failure(sqlite3* database, const std::string& file) {
    int code = database != nullptr ? sqlite3_errcode(database) : SQLITE_NOMEM;
    std::string detail = database != nullptr ? sqlite3_errmsg(database) : "out of memory";
    if (code == SQLITE_NOTADB || code == SQLITE_CORRUPT)
        return Error{ErrorKind::InvalidInput, "the long-term memory is not readable: " + detail,
                     file, "Move the file away to start a new one"};
    return Error{ErrorKind::Failed, "the long-term memory cannot be used: " + detail, file, ""};
}

Result<Statement> prepare(sqlite3* database, const char* query, const std::string& file) {
    sqlite3_stmt* raw = nullptr;
    if (sqlite3_prepare_v2(database, query, -1, &raw, nullptr) != SQLITE_OK)
        return std::unexpected(failure(database, file));
    return Statement(raw);
}

Result<void> execute(sqlite3* database, const char* script, const std::string& file) {
    if (sqlite3_exec(database, script, nullptr, nullptr, nullptr) != SQLITE_OK)
        return std::unexpected(failure(database, file));
    return {};
}

Result<int> pragma(sqlite3* database, const char* query, const std::string& file) {
    auto statement = prepare(database, query, file);
    if (!statement)
        return std::unexpected(statement.error());
    if (sqlite3_step(statement->get()) != SQLITE_ROW)
        return std::unexpected(failure(database, file));
    return sqlite3_column_int(statement->get(), 0);
}

void bindText(sqlite3_stmt* statement, int index, const std::string& text) {
    sqlite3_bind_text(statement, index, text.c_str(), static_cast<int>(text.size()),
                      SQLITE_TRANSIENT);
}

/// Creates the tables in a new file; refuses a file that is not ours.
Result<void> migrate(sqlite3* database, const std::string& file) {
    auto id = pragma(database, "PRAGMA application_id", file);
    if (!id)
        return std::unexpected(id.error());
    auto version = pragma(database, "PRAGMA user_version", file);
    if (!version)
        return std::unexpected(version.error());
    auto tables = pragma(database, "SELECT count(*) FROM sqlite_master", file);
    if (!tables)
        return std::unexpected(tables.error());
    if (*id == applicationId && *version == schemaVersion)
        return {};
    if (*id == applicationId && *version > schemaVersion)
        return std::unexpected(
            Error{ErrorKind::InvalidInput,
                  "the long-term memory was written by a later version of KernelSkill", file,
                  "Update KernelSkill, or set another data folder"});
    if (*tables != 0)
        return std::unexpected(
            Error{ErrorKind::InvalidInput,
                  "the file is a database, but not KernelSkill's long-term memory", file,
                  "Move the file away to start a new one"});
    std::string mark = "PRAGMA application_id = " + std::to_string(applicationId) +
                       "; PRAGMA user_version = " + std::to_string(schemaVersion) + ";";
    return execute(database, (schema + mark).c_str(), file);
}

} // namespace

struct LongTermMemory::Impl {
    std::string file;
    Database database;
    std::mutex mutex;
    /// Answers of records(), which is asked on each cursor move, for the version of the file that
    /// `recordsVersion` names. Whether another process has written is asked only so often.
    std::map<std::pair<std::string, std::string>, std::vector<SkillRecord>> recordsCache;
    int recordsVersion = -1;
    std::chrono::steady_clock::time_point versionAsked;
};

LongTermMemory::LongTermMemory(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
LongTermMemory::LongTermMemory(LongTermMemory&&) noexcept = default;
LongTermMemory& LongTermMemory::operator=(LongTermMemory&&) noexcept = default;
LongTermMemory::~LongTermMemory() = default;

Result<LongTermMemory> LongTermMemory::open(const std::filesystem::path& file) {
    std::error_code ignored;
    std::filesystem::create_directories(file.parent_path(), ignored);
    auto impl = std::make_unique<Impl>();
    impl->file = file.string();
    sqlite3* raw = nullptr;
    int status = sqlite3_open_v2(impl->file.c_str(), &raw,
                                 SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX,
                                 nullptr);
    impl->database.reset(raw);
    if (status != SQLITE_OK)
        return std::unexpected(failure(raw, impl->file));
    sqlite3_busy_timeout(raw, 2000);
    // The transaction keeps two processes that open a new file at once from both creating the
    // tables.
    if (auto begun = execute(raw, "BEGIN IMMEDIATE", impl->file); !begun)
        return std::unexpected(begun.error());
    if (auto migrated = migrate(raw, impl->file); !migrated) {
        static_cast<void>(execute(raw, "ROLLBACK", impl->file));
        return std::unexpected(migrated.error());
    }
    if (auto done = execute(raw, "COMMIT", impl->file); !done)
        return std::unexpected(done.error());
    return LongTermMemory(std::move(impl));
}

Result<void> LongTermMemory::record(const Outcome& outcome) {
    std::scoped_lock lock(impl_->mutex);
    auto statement =
        prepare(impl_->database.get(),
                "INSERT INTO outcome (skill, bottleneck, architecture, kernel_hash, status, "
                "log_speedup) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                impl_->file);
    if (!statement)
        return std::unexpected(statement.error());
    sqlite3_stmt* insert = statement->get();
    bindText(insert, 1, outcome.skill);
    bindText(insert, 2, outcome.bottleneck);
    bindText(insert, 3, outcome.architecture);
    bindText(insert, 4, formatHash(outcome.kernelHash));
    bindText(insert, 5, std::string(spelling(outcome.status)));
    if (outcome.speedup && *outcome.speedup > 0)
        sqlite3_bind_double(insert, 6, std::log(*outcome.speedup));
    else
        sqlite3_bind_null(insert, 6);
    if (sqlite3_step(insert) != SQLITE_DONE)
        return std::unexpected(failure(impl_->database.get(), impl_->file));
    impl_->recordsCache.clear();
    return {};
}

Result<std::vector<SkillRecord>> LongTermMemory::records(const std::string& bottleneck,
                                                         const std::string& architecture) const {
    std::scoped_lock lock(impl_->mutex);
    if (const auto now = std::chrono::steady_clock::now();
        now - impl_->versionAsked > recordsMayBeOld) {
        // Changes when another connection, of this process or not, has written.
        auto version = pragma(impl_->database.get(), "PRAGMA data_version", impl_->file);
        if (!version)
            return std::unexpected(version.error());
        if (std::exchange(impl_->recordsVersion, *version) != *version)
            impl_->recordsCache.clear();
        impl_->versionAsked = now;
    }
    if (auto known = impl_->recordsCache.find({bottleneck, architecture});
        known != impl_->recordsCache.end())
        return known->second;
    auto statement = prepare(impl_->database.get(), recordsQuery, impl_->file);
    if (!statement)
        return std::unexpected(statement.error());
    sqlite3_stmt* select = statement->get();
    bindText(select, 1, bottleneck);
    bindText(select, 2, architecture);
    std::vector<SkillRecord> found;
    int status = SQLITE_ROW;
    while ((status = sqlite3_step(select)) == SQLITE_ROW) {
        SkillRecord record;
        record.skill = reinterpret_cast<const char*>(sqlite3_column_text(select, 0));
        record.kernels = sqlite3_column_int(select, 1);
        record.accepted = sqlite3_column_int(select, 2);
        if (sqlite3_column_type(select, 3) != SQLITE_NULL)
            record.meanSpeedup = std::exp(sqlite3_column_double(select, 3));
        found.push_back(std::move(record));
    }
    if (status != SQLITE_DONE)
        return std::unexpected(failure(impl_->database.get(), impl_->file));
    return found;
}

} // namespace kernelskill::engine
