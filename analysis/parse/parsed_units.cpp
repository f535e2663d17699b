#include "analysis/parse/parsed_units.h"

#include "analysis/command/include_search.h"

#include <algorithm>
#include <iterator>
#include <thread>
#include <utility>

namespace kernelskill::analysis {

ParsedUnits::ParsedUnits(std::size_t maxIdle) : maxIdle_(maxIdle) {}

std::size_t ParsedUnits::usualIdle() {
    return std::clamp<std::size_t>(std::thread::hardware_concurrency(), 4, 16);
}

Result<FileModel> ParsedUnits::analyze(const std::filesystem::path& file, std::string text,
                                       const CompileCommand& command, const Toolchain& toolchain,
                                       const UnsavedFiles& unsaved) {
    const std::vector<Include> includes = includeDirectives(text);
    Key key{file.string(), includes.empty() ? "" : text.substr(0, includes.back().span.end),
            command, toolchain};
    key.toolchain.units.reset(); // Else this object would own itself.
    if (isPlain(key)) {
        auto parsed = TranslationUnit::parse(file, std::move(text), command, toolchain, unsaved,
                                             ParsePurpose::Once);
        if (!parsed)
            return std::unexpected(parsed.error());
        return parsed->model();
    }
    std::optional<TranslationUnit> unit = take(key);
    if (unit) {
        if (auto parsed = unit->parseOther(std::move(text), unsaved); !parsed)
            return std::unexpected(parsed.error());
    } else {
        auto parsed = TranslationUnit::parse(file, std::move(text), command, toolchain, unsaved,
                                             ParsePurpose::Candidates);
        if (!parsed)
            return std::unexpected(parsed.error());
        unit = std::move(*parsed);
    }
    FileModel model = unit->model();
    keep(std::move(key), std::move(*unit));
    return model;
}

std::optional<TranslationUnit> ParsedUnits::take(const Key& key) {
    const std::scoped_lock lock(mutex_);
    const auto found = std::ranges::find(idle_, key, &Idle::key);
    if (found == idle_.end())
        return std::nullopt;
    std::optional<TranslationUnit> unit = std::move(found->unit);
    idle_.erase(found);
    return unit;
}

bool ParsedUnits::isPlain(const Key& key) {
    const std::scoped_lock lock(mutex_);
    return std::ranges::find(plain_, key) != plain_.end();
}

void ParsedUnits::keep(Key key, TranslationUnit unit) {
    std::list<Idle> dropped; // Freed without the lock.
    const bool hasPreamble = unit.canParseOthers();
    const std::scoped_lock lock(mutex_);
    if (!hasPreamble) {
        plain_.push_front(std::move(key));
        if (plain_.size() > maxIdle_)
            plain_.pop_back();
        dropped.emplace_front(Key{}, std::move(unit));
        return;
    }
    idle_.emplace_front(std::move(key), std::move(unit));
    if (idle_.size() > maxIdle_)
        dropped.splice(dropped.begin(), idle_,
                       std::next(idle_.begin(), static_cast<std::ptrdiff_t>(maxIdle_)),
                       idle_.end());
}

} // namespace kernelskill::analysis
