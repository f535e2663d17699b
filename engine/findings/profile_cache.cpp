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

void addCommand(TextHash& hash, const analysis::CompileCommand& command) {
    for (const auto* list : {&command.includeDirs, &command.systemIncludeDirs, &command.definitions,
                             &command.undefinitions, &command.forcedIncludes,
                             &command.architectures, &command.hostFlags, &command.codeOptions}) {
        hash.add(list->size());
        for (const std::string& flag : *list)
            hash.add(flag);
    }
    hash.add(command.standard);
    hash.add(command.includer);
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

} // namespace

ProfileKeys::ProfileKeys(const ProgramSource& program) {
    const analysis::FileModel& model = *program.model;
    const analysis::SourceText& source = *model.source;
    std::vector<Span> spans;
    const auto addFunction = [&](const std::string& file, Span span) {
        if (file == program.file && !functions_.contains(span)) {
            functions_.emplace(span, hashOf(source, span));
            spans.push_back(span);
        }
    };
    for (const KernelModel& kernel : model.kernels)
        addFunction(kernel.file, kernel.span);
    for (const KernelModel& function : model.deviceFunctions) {
        addFunction(function.file, function.span);
        byName_[function.qualifiedName].push_back(&function);
    }
    for (const analysis::HostFunction& host : model.hostFunctions)
        addFunction(host.file, host.span);
    std::ranges::sort(spans);
    TextHash shared;
    auto skipped = spans.begin();
    for (const analysis::Token& token : analysis::lex(source.text())) {
        while (skipped != spans.end() && skipped->end <= token.span.begin)
            ++skipped;
        if (skipped == spans.end() || !skipped->contains(token.span.begin))
            shared.add(token.text);
    }
    for (const LaunchPin& pin : findLaunchPins(model).pins)
        shared.add(pin.text);
    addHeaders(shared, program);
    addCommand(shared, program.command);
    shared_ = shared.value();
}

ProfileKeys::FunctionHash ProfileKeys::hashOf(const analysis::SourceText& source, Span span) {
    TextHash text;
    TextHash lines;
    const std::uint32_t firstLine = source.lineColumn(span.begin).line;
    for (const analysis::Token& token : analysis::lex(source.text(), span)) {
        text.add(token.text);
        lines.add(source.lineColumn(token.span.begin).line - firstLine);
    }
    return {text.value(), lines.value()};
}

ProfileKeys::FunctionHash ProfileKeys::functionHash(const analysis::SourceText& source,
                                                    Span span) const {
    const auto known = functions_.find(span);
    return known != functions_.end() ? known->second : hashOf(source, span);
}

std::vector<const KernelModel*> ProfileKeys::reached(const KernelModel& kernel) const {
    std::vector<const KernelModel*> found{&kernel};
    std::set<std::string> names;
    for (std::size_t next = 0; next < found.size(); ++next) {
        for (const std::string& callee : found[next]->calls) {
            const auto functions = byName_.find(callee);
            if (functions == byName_.end() || !names.insert(callee).second)
                continue;
            // Overloads share a name, so all of them count.
            found.insert(found.end(), functions->second.begin(), functions->second.end());
        }
    }
    return found;
}

ProfileKey ProfileKeys::of(KernelRef kernel) const {
    const ProgramSource& program = kernel.program;
    const analysis::SourceText& source = *program.model->source;
    const auto own = reached(kernel.kernel);
    ProfileKey key;
    TextHash hash;
    TextHash lines; // Lines of the tokens of the kernel and its callees.
    hash.add(kernel.kernel.qualifiedName);
    hash.add(shared_);
    std::set<Span> related;
    for (const KernelModel* function : own) {
        if (function->file != program.file)
            continue;
        key.places.push_back({function->qualifiedName, function->file,
                              source.lineColumn(function->span.begin).line,
                              source.lineColumn(function->span.end).line});
        related.insert(function->span);
        lines.add(functionHash(source, function->span).lines);
    }
    for (const analysis::LaunchSite& site : kernel.kernel.launches) {
        const auto& hosts = program.model->hostFunctions;
        if (site.host < hosts.size() && hosts[site.host].file == program.file)
            related.insert(hosts[site.host].span);
    }
    for (const Span span : related)
        hash.add(functionHash(source, span).text);
    for (const StoredLaunch* stored : capturesOf(program.captures)->of(kernel.kernel))
        hash.add(formatCapture(stored->launch));
    key.textHash = hash.value();
    lines.add(key.textHash);
    key.hash = lines.value();
    return key;
}

ProfileKey profileKey(KernelRef kernel) {
    return ProfileKeys(kernel.program).of(kernel);
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
