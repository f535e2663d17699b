#include "engine/memory/long_term_memory.h"

#include "engine/memory/memory_entry.h"

#include <spdlog/fmt/fmt.h>
#include <sqlite3.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <map>
#include <mutex>
#include <system_error>
#include <utility>

namespace kernelskill::engine {
namespace {

namespace fs = std::filesystem;

/// "KSLM": marks the file as one of KernelSkill's.
constexpr int applicationId = 0x4b534c4d;
constexpr int schemaVersion = 3;
/// Records only rank skills, so they may lag behind other processes by this time.
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
        log_speedup REAL,
        failure TEXT NOT NULL DEFAULT ''
    );
    CREATE INDEX outcome_by_bottleneck ON outcome (bottleneck, architecture, skill, kernel_hash);
)sql";

/// Times of ways to compute a part of a PyTorch program.
constexpr const char* timesTable = R"sql(
    CREATE TABLE part_times (
        key TEXT PRIMARY KEY,
        times TEXT NOT NULL,
        time TEXT NOT NULL
    );
)sql";

constexpr const char* fromFirstSchema =
    "ALTER TABLE outcome ADD COLUMN failure TEXT NOT NULL DEFAULT '';";

constexpr const char* columns =
    "skill, bottleneck, architecture, kernel_hash, status, log_speedup, failure, time";

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

std::string mark() {
    return "PRAGMA application_id = " + std::to_string(applicationId) +
           "; PRAGMA user_version = " + std::to_string(schemaVersion) + ";";
}

/// Creates the tables of a new file and upgrades older ones. Refuses other kinds of files.
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
    if (*id == applicationId && *version == 1)
        return execute(database, (std::string(fromFirstSchema) + timesTable + mark()).c_str(),
                       file);
    if (*id == applicationId && *version == 2)
        return execute(database, (timesTable + mark()).c_str(), file);
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
    return execute(database, (std::string(schema) + timesTable + mark()).c_str(), file);
}

/// Checks that an outcome has a speedup exactly if it was measured.
Result<void> checked(const Outcome& outcome, const std::string& file) {
    const bool isTimed = outcome.status == VerdictStatus::Faster ||
                         outcome.status == VerdictStatus::Slower ||
                         outcome.status == VerdictStatus::Inconclusive;
    const bool isOnGpu = outcome.architecture != emulatedArchitecture;
    const bool hasSpeedup =
        outcome.speedup && std::isfinite(*outcome.speedup) && *outcome.speedup > 0;
    if (isTimed == hasSpeedup && (!isTimed || isOnGpu))
        return {};
    return std::unexpected(Error{
        ErrorKind::InvalidInput,
        fmt::format("an outcome of {} is inconsistent: its verdict, its speedup and where it was "
                    "measured do not match",
                    outcome.skill),
        file, ""});
}

Result<void> insert(sqlite3* database, const Outcome& outcome, const std::string& file) {
    const std::string query =
        fmt::format("INSERT INTO outcome ({}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)", columns);
    auto statement = prepare(database, query.c_str(), file);
    if (!statement)
        return std::unexpected(statement.error());
    sqlite3_stmt* insert = statement->get();
    bindText(insert, 1, outcome.skill);
    bindText(insert, 2, outcome.bottleneck);
    bindText(insert, 3, outcome.architecture);
    bindText(insert, 4, formatHash(outcome.kernelHash));
    bindText(insert, 5, std::string(spelling(outcome.status)));
    if (outcome.speedup)
        sqlite3_bind_double(insert, 6, std::log(*outcome.speedup));
    else
        sqlite3_bind_null(insert, 6);
    bindText(insert, 7, outcome.failure);
    bindText(insert, 8, outcome.time.empty() ? timestamp() : outcome.time);
    if (sqlite3_step(insert) != SQLITE_DONE)
        return std::unexpected(failure(database, file));
    return {};
}

Result<bool> isKnown(sqlite3* database, const Outcome& outcome, const std::string& file) {
    auto statement = prepare(database,
                             "SELECT 1 FROM outcome WHERE skill = ?1 AND bottleneck = ?2 AND "
                             "architecture = ?3 AND kernel_hash = ?4 AND time = ?5",
                             file);
    if (!statement)
        return std::unexpected(statement.error());
    sqlite3_stmt* select = statement->get();
    bindText(select, 1, outcome.skill);
    bindText(select, 2, outcome.bottleneck);
    bindText(select, 3, outcome.architecture);
    bindText(select, 4, formatHash(outcome.kernelHash));
    bindText(select, 5, outcome.time);
    const int status = sqlite3_step(select);
    if (status != SQLITE_ROW && status != SQLITE_DONE)
        return std::unexpected(failure(database, file));
    return status == SQLITE_ROW;
}

std::string textAt(sqlite3_stmt* row, int column) {
    const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(row, column));
    return text == nullptr ? std::string() : std::string(text);
}

/// nullopt if this version does not know the status or the hash.
std::optional<Outcome> readRow(sqlite3_stmt* row) {
    const auto hash = parseHash(textAt(row, 3));
    const auto status = statusSpelled(textAt(row, 4));
    if (!hash || !status)
        return std::nullopt;
    Outcome outcome{textAt(row, 0), textAt(row, 1), textAt(row, 2), *hash,
                    *status,        std::nullopt,   textAt(row, 6), textAt(row, 7)};
    if (sqlite3_column_type(row, 5) != SQLITE_NULL)
        outcome.speedup = std::exp(sqlite3_column_double(row, 5));
    return outcome;
}

void count(SkillRecord& record, const Outcome& outcome) {
    ++record.kernels;
    if (outcome.status == VerdictStatus::Incorrect || outcome.status == VerdictStatus::Invalid) {
        ++record.failed;
        record.lastFailure = outcome.failure;
    }
    if (!outcome.speedup)
        return;
    ++record.measured;
    // The sum of logarithms, until all are added.
    record.meanSpeedup = record.meanSpeedup.value_or(0) + std::log(*outcome.speedup);
    if (outcome.status == VerdictStatus::Faster) {
        ++record.faster;
        record.worth += std::clamp(std::log2(*outcome.speedup), 0.0, 1.0);
    }
}

/// `outcomes` are oldest first.
std::vector<SkillRecord> recordsOf(const std::vector<Outcome>& outcomes) {
    std::map<std::pair<std::string, std::uint64_t>, const Outcome*> last;
    for (const Outcome& outcome : outcomes) {
        const Outcome*& slot = last[{outcome.skill, outcome.kernelHash}];
        const bool hidesATime =
            slot != nullptr && slot->speedup && outcome.status == VerdictStatus::Unmeasured;
        if (!hidesATime)
            slot = &outcome;
    }
    std::vector<SkillRecord> records;
    for (const auto& [key, outcome] : last) {
        if (records.empty() || records.back().skill != key.first)
            records.emplace_back().skill = key.first;
        count(records.back(), *outcome);
    }
    for (SkillRecord& record : records) {
        if (record.meanSpeedup)
            record.meanSpeedup = std::exp(*record.meanSpeedup / record.measured);
    }
    return records;
}

} // namespace

Outcome outcomeOf(const Verdict& verdict, std::string skill, std::string bottleneck,
                  std::uint64_t kernelHash, std::string architecture) {
    Outcome outcome;
    outcome.skill = std::move(skill);
    outcome.bottleneck = std::move(bottleneck);
    outcome.kernelHash = kernelHash;
    outcome.status = verdict.status;
    const bool isFailure =
        verdict.status == VerdictStatus::Incorrect || verdict.status == VerdictStatus::Invalid;
    if (verdict.speedup && !isFailure && verdict.status != VerdictStatus::Unmeasured)
        outcome.speedup = verdict.speedup;
    outcome.architecture = outcome.speedup ? std::move(architecture) : emulatedArchitecture;
    if (const auto failed = std::ranges::find(verdict.checks, false, &Check::passed);
        isFailure && failed != verdict.checks.end())
        outcome.failure = failed->name;
    return outcome;
}

struct LongTermMemory::Impl {
    /// Oldest first. `values` replace ?1, ?2, ... in `condition`. The caller holds the mutex.
    [[nodiscard]] Result<std::vector<Outcome>> select(const std::string& condition,
                                                      const std::vector<std::string>& values) const;

    std::string file;
    Database database;
    std::mutex mutex;
    /// The answers of records(), which is called on each cursor move, for the version of the file
    /// in `recordsVersion`. A change by another process is looked for only after a delay.
    std::map<std::pair<std::string, std::string>, std::vector<SkillRecord>> recordsCache;
    int recordsVersion = -1;
    std::chrono::steady_clock::time_point versionAsked;
};

Result<std::vector<Outcome>>
LongTermMemory::Impl::select(const std::string& condition,
                             const std::vector<std::string>& values) const {
    const std::string query =
        fmt::format("SELECT {} FROM outcome WHERE {} ORDER BY id", columns, condition);
    auto statement = prepare(database.get(), query.c_str(), file);
    if (!statement)
        return std::unexpected(statement.error());
    for (std::size_t index = 0; index < values.size(); ++index)
        bindText(statement->get(), static_cast<int>(index) + 1, values[index]);
    std::vector<Outcome> found;
    int status = SQLITE_ROW;
    while ((status = sqlite3_step(statement->get())) == SQLITE_ROW) {
        if (auto outcome = readRow(statement->get()))
            found.push_back(std::move(*outcome));
    }
    if (status != SQLITE_DONE)
        return std::unexpected(failure(database.get(), file));
    return found;
}

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
    // The transaction prevents that two processes that open a new file at once both create the
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
    if (auto valid = checked(outcome, impl_->file); !valid)
        return valid;
    std::scoped_lock lock(impl_->mutex);
    impl_->recordsCache.clear();
    return insert(impl_->database.get(), outcome, impl_->file);
}

Result<std::size_t> LongTermMemory::merge(const std::vector<Outcome>& outcomes) {
    for (const Outcome& outcome : outcomes) {
        if (auto valid = checked(outcome, impl_->file); !valid)
            return std::unexpected(valid.error());
    }
    std::scoped_lock lock(impl_->mutex);
    impl_->recordsCache.clear();
    sqlite3* database = impl_->database.get();
    if (auto begun = execute(database, "BEGIN IMMEDIATE", impl_->file); !begun)
        return std::unexpected(begun.error());
    std::size_t added = 0;
    for (const Outcome& outcome : outcomes) {
        auto known = isKnown(database, outcome, impl_->file);
        auto done = !known   ? std::unexpected(known.error())
                    : *known ? Result<void>()
                             : insert(database, outcome, impl_->file);
        if (!done) {
            static_cast<void>(execute(database, "ROLLBACK", impl_->file));
            return std::unexpected(done.error());
        }
        added += *known ? 0 : 1;
    }
    if (auto done = execute(database, "COMMIT", impl_->file); !done)
        return std::unexpected(done.error());
    return added;
}

Result<std::vector<Outcome>> LongTermMemory::outcomes() const {
    std::scoped_lock lock(impl_->mutex);
    return impl_->select("1 = 1", {});
}

Result<std::vector<SkillRecord>> LongTermMemory::records(const std::string& bottleneck,
                                                         const std::string& architecture) const {
    std::scoped_lock lock(impl_->mutex);
    if (const auto now = std::chrono::steady_clock::now();
        now - impl_->versionAsked > recordsMayBeOld) {
        // Changes when another connection, of this or another process, has written.
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
    auto found = impl_->select(
        "bottleneck = ?1 AND (?2 = '' OR architecture = ?2 OR architecture = 'emulator')",
        {bottleneck, architecture});
    if (!found)
        return std::unexpected(found.error());
    return impl_->recordsCache[{bottleneck, architecture}] = recordsOf(*found);
}

Result<void> LongTermMemory::keepTimes(const std::string& key, const std::string& times) {
    std::scoped_lock lock(impl_->mutex);
    auto statement = prepare(impl_->database.get(),
                             "INSERT OR REPLACE INTO part_times (key, times, time) "
                             "VALUES (?1, ?2, ?3)",
                             impl_->file);
    if (!statement)
        return std::unexpected(statement.error());
    bindText(statement->get(), 1, key);
    bindText(statement->get(), 2, times);
    bindText(statement->get(), 3, timestamp());
    if (sqlite3_step(statement->get()) != SQLITE_DONE)
        return std::unexpected(failure(impl_->database.get(), impl_->file));
    return {};
}

Result<std::optional<std::string>> LongTermMemory::times(const std::string& key) const {
    std::scoped_lock lock(impl_->mutex);
    auto statement =
        prepare(impl_->database.get(), "SELECT times FROM part_times WHERE key = ?1", impl_->file);
    if (!statement)
        return std::unexpected(statement.error());
    bindText(statement->get(), 1, key);
    const int status = sqlite3_step(statement->get());
    if (status != SQLITE_ROW && status != SQLITE_DONE)
        return std::unexpected(failure(impl_->database.get(), impl_->file));
    return status == SQLITE_ROW ? std::optional(textAt(statement->get(), 0)) : std::nullopt;
}

fs::path longTermMemoryFile(const fs::path& configured) {
    fs::path folder = configured;
    if (folder.empty()) {
        if (const char* data = std::getenv("XDG_DATA_HOME"); data != nullptr && *data != '\0')
            folder = fs::path(data) / "kernelskill";
        else if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0')
            folder = fs::path(home) / ".local" / "share" / "kernelskill";
    }
    return folder.empty() ? fs::path() : folder / "outcomes.sqlite";
}

} // namespace kernelskill::engine
