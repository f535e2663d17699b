#include "engine/findings/profile_cache.h"

#include "analysis/syntax/lexer.h"
#include "engine/capture/capture_store.h"
#include "engine/inputs/launch_inference.h"
#include "engine/storage/text_hash.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

namespace kernelskill::engine {
namespace {

using analysis::KernelModel;
using analysis::Span;

constexpr std::size_t maxEntries = 256;

/// The kernel and every device function that it reaches.
std::vector<const KernelModel*> reached(const analysis::FileModel& model,
                                        const KernelModel& kernel) {
    std::vector<const KernelModel*> found{&kernel};
    std::set<std::string> names;
    for (std::size_t next = 0; next < found.size(); ++next) {
        for (const std::string& callee : found[next]->calls) {
            if (!names.insert(callee).second)
                continue;
            // Overloads share a name, so all of them count.
            for (const KernelModel& function : model.deviceFunctions) {
                if (function.qualifiedName == callee)
                    found.push_back(&function);
            }
        }
    }
    return found;
}

void addCommand(TextHash& hash, const analysis::CompileCommand& command) {
    for (const auto* list : {&command.includeDirs, &command.systemIncludeDirs, &command.definitions,
                             &command.undefinitions, &command.forcedIncludes,
                             &command.architectures, &command.hostFlags, &command.codeOptions}) {
        hash.add(list->size());
        for (const std::string& flag : *list)
            hash.add(flag);
    }
    hash.add(command.standard);
    hash.add(command.fastMath ? 1 : 0);
}

void addHeaders(TextHash& hash, const ProgramSource& program) {
    for (const std::string& file : program.model->userFiles) {
        if (file == program.file)
            continue;
        hash.add(file);
        if (auto open = program.unsaved.find(file); open != program.unsaved.end()) {
            hash.add(open->second);
            continue;
        }
        std::error_code ignored;
        hash.add(std::filesystem::file_size(file, ignored));
        hash.add(static_cast<std::uint64_t>(
            std::filesystem::last_write_time(file, ignored).time_since_epoch().count()));
    }
}

/// The spans of functions that are unrelated to the kernel.
std::vector<Span> foreignSpans(const ProgramSource& program,
                               const std::vector<const KernelModel*>& own) {
    const analysis::FileModel& model = *program.model;
    std::vector<Span> spans;
    auto addFunctions = [&](const std::vector<KernelModel>& functions) {
        for (const KernelModel& function : functions) {
            bool isOwn = std::ranges::find(own, &function) != own.end();
            if (!isOwn && function.file == program.file)
                spans.push_back(function.span);
        }
    };
    addFunctions(model.kernels);
    addFunctions(model.deviceFunctions);
    for (std::uint32_t index = 0; index < model.hostFunctions.size(); ++index) {
        bool launchesIt =
            std::ranges::any_of(own.front()->launches, [&](const analysis::LaunchSite& site) {
                return site.host == index;
            });
        if (!launchesIt && model.hostFunctions[index].file == program.file)
            spans.push_back(model.hostFunctions[index].span);
    }
    std::ranges::sort(spans);
    return spans;
}

} // namespace

ProfileKey profileKey(KernelRef kernel) {
    const analysis::SourceText& source = *kernel.program.model->source;
    auto own = reached(kernel.file(), kernel.kernel);
    ProfileKey key;
    TextHash hash;
    TextHash lines; // Lines of the tokens of the kernel and its callees.
    hash.add(kernel.kernel.qualifiedName);
    for (const KernelModel* function : own) {
        if (function->file == kernel.program.file)
            key.places.push_back({function->qualifiedName, function->file,
                                  source.lineColumn(function->span.begin).line,
                                  source.lineColumn(function->span.end).line});
    }
    auto foreign = foreignSpans(kernel.program, own);
    auto skipped = foreign.begin();
    for (const analysis::Token& token : analysis::lex(source.text())) {
        while (skipped != foreign.end() && skipped->end <= token.span.begin)
            ++skipped;
        if (skipped != foreign.end() && skipped->contains(token.span.begin))
            continue;
        hash.add(token.text);
        for (const KernelModel* function : own) {
            if (function->file == kernel.program.file && function->span.contains(token.span.begin))
                lines.add(source.lineColumn(token.span.begin).line -
                          source.lineColumn(function->span.begin).line);
        }
    }
    for (const LaunchPin& pin : findLaunchPins(kernel.file()).pins)
        hash.add(pin.text);
    for (const StoredLaunch* stored : capturesOf(kernel.program.captures)->of(kernel.kernel))
        hash.add(formatCapture(stored->launch));
    addHeaders(hash, kernel.program);
    addCommand(hash, kernel.program.command);
    key.textHash = hash.value();
    lines.add(key.textHash);
    key.hash = lines.value();
    return key;
}

Profile relocated(Profile profile, const std::vector<FunctionPlace>& from,
                  const std::vector<FunctionPlace>& to) {
    auto move = [&](std::string& file, std::uint32_t& line) {
        for (std::size_t index = 0; index < std::min(from.size(), to.size()); ++index) {
            const FunctionPlace& old = from[index];
            if (old.file == file && old.firstLine <= line && line <= old.lastLine) {
                line = line - old.firstLine + to[index].firstLine;
                file = to[index].file; // The same text may be in another file now.
                return;
            }
        }
    };
    for (LineMetrics& line : profile.lines)
        move(line.file, line.line);
    for (Hazard& hazard : profile.hazards) {
        move(hazard.file, hazard.line);
        move(hazard.otherFile, hazard.otherLine);
    }
    return profile;
}

KernelFindings ProfileCache::find(const ProfileKey& key) {
    std::scoped_lock lock(mutex_);
    auto found = entries_.find(key.hash);
    if (found == entries_.end())
        return {};
    Entry& entry = found->second;
    if (entry.findings.profile && entry.places != key.places) {
        entry.findings.profile = std::make_shared<const Profile>(
            relocated(*entry.findings.profile, entry.places, key.places));
        entry.places = key.places;
    }
    return entry.findings;
}

void ProfileCache::insert(const ProfileKey& key, KernelFindings findings) {
    std::scoped_lock lock(mutex_);
    if (!entries_.contains(key.hash))
        order_.push_back(key.hash);
    entries_[key.hash] = Entry{std::move(findings), key.places};
    if (order_.size() > maxEntries) {
        entries_.erase(order_.front());
        order_.pop_front();
    }
}

} // namespace kernelskill::engine
