#include "engine/inputs/launch_candidates.h"

#include "analysis/model/scalar_kinds.h"
#include "engine/inputs/launch_cases.h"
#include "engine/inputs/launch_text.h"
#include "engine/inputs/length_parameters.h"
#include "engine/inputs/pointer_shift.h"
#include "engine/inputs/searched_lengths.h"
#include "engine/inputs/symbol_specs.h"
#include "engine/inputs/template_arguments.h"

#include <algorithm>

namespace kernelskill::engine {

using analysis::Value;

namespace {

struct Bounds {
    std::uint64_t threads = 0;
    std::uint64_t bytes = 0;
};
constexpr Bounds emulated{64ull << 20, 512ull << 20};
constexpr Bounds onGpu{1ull << 34, 4ull << 30};
constexpr std::int64_t minScaledRoot = 32;

bool isUnnamed(const std::string& type) {
    return type.find("(lambda") != std::string::npos || type.find("(unnamed") != std::string::npos;
}

/// Blocks of a grid along an axis, where the text says nothing. No power of two, since kernels
/// group blocks by these.
constexpr std::int64_t usualBlocks = 24;

} // namespace

LaunchCandidates::LaunchCandidates(const analysis::FileModel& file,
                                   const analysis::KernelModel& kernel, LaunchTarget target)
    : LaunchCandidates(std::make_shared<const LaunchSource>(file), file, kernel, target) {}

LaunchCandidates::LaunchCandidates(std::shared_ptr<const LaunchSource> source,
                                   const analysis::FileModel& file,
                                   const analysis::KernelModel& kernel, LaunchTarget target)
    : file_(file), kernel_(kernel), target_(target), source_(std::move(source)),
      program_(source_->program()), text_(readKernelText(program_, kernel)),
      sites_(findLaunchSites(program_, file, kernel)), lengths_(findLengths()) {}

std::map<std::string, std::int64_t> LaunchCandidates::findLengths() const {
    const std::vector<std::optional<std::int64_t>> lengths =
        lengthsByUse(file_, kernel_, program_, text_ ? &*text_ : nullptr);
    std::map<std::string, std::int64_t> result;
    for (std::size_t i = 0; i < lengths.size(); ++i) {
        if (!lengths[i])
            continue;
        result.emplace(kernel_.parameters[i].name, *lengths[i]);
        for (const SiteText& site : sites_) {
            if (i >= site.arguments.size())
                continue;
            const auto [begin, end] = site.arguments[i];
            const auto& tokens = program_.files()[site.place.file].tokens;
            if (end == begin + 1 && tokens[begin].isIdentifier())
                result.emplace(tokens[begin].text, *lengths[i]);
        }
    }
    return result;
}

NameGuess LaunchCandidates::guessOf(const analysis::Parameter& parameter) const {
    const auto length = lengths_.find(parameter.name);
    if (length != lengths_.end())
        return guessLength(parameter.name, length->second);
    std::vector<std::string> names;
    for (const analysis::Parameter& one : kernel_.parameters)
        names.push_back(one.name);
    return guessAmong(parameter.name, names);
}

bool LaunchCandidates::isTooLarge(const LaunchSpec& spec) const {
    const Bounds& bounds = target_ == LaunchTarget::Gpu ? onGpu : emulated;
    std::uint64_t bytes = 0;
    for (const auto& argument : spec.arguments) {
        if (const auto* buffer = std::get_if<BufferSpec>(&argument))
            bytes += buffer->elements.value_or(0) * buffer->elementBytes;
    }
    return spec.grid.count() * spec.block.count() > bounds.threads || bytes > bounds.bytes;
}

EvaluationSettings LaunchCandidates::settings(bool mayGuess, EvaluationLog* log,
                                              const Overrides& overrides,
                                              const SiteText* site) const {
    EvaluationSettings result;
    if (site != nullptr)
        result.call = site->call;
    result.overrides = overrides;
    result.mayGuess = mayGuess;
    result.device =
        target_ == LaunchTarget::Gpu ? AnsweringDevice::DataCentre : AnsweringDevice::Small;
    result.log = log;
    result.lengths = lengths_;
    for (const auto& parameter : kernel_.parameters) {
        const auto size =
            parameter.type.pointerDepth > 0 ? parameter.type.elementSize : parameter.type.size;
        if (size == 0)
            continue;
        for (const auto& token : analysis::lex(parameter.type.spelling)) {
            if (token.isIdentifier() && !token.is("const") && !token.text.starts_with("__"))
                result.typeSizes.emplace(token.text, size);
        }
    }
    return result;
}

/// A macro or constant that the kernel's code uses too: changing it for the host alone would be
/// wrong.
bool LaunchCandidates::isCompiledIn(const std::string& root) const {
    const bool parameter =
        std::ranges::any_of(kernel_.parameters, [&](const auto& p) { return p.name == root; });
    if (parameter || !text_)
        return false;
    return std::ranges::any_of(
        text_->names, [&](const auto& name) { return program_.macros().names(name, {root}); });
}

LaunchCandidates::Overrides LaunchCandidates::casesAround(const SiteText& site) const {
    const auto strict = settings(false, nullptr, {}, &site);
    return launchCases(program_, site, strict);
}

std::uint32_t LaunchCandidates::line() const {
    const auto file = program_.fileIndex(kernel_.file);
    if (!file)
        return 1;
    const auto& text = program_.files()[*file].text;
    const auto offset = std::min<std::size_t>(kernel_.nameSpan.begin, text.size());
    return 1 + static_cast<std::uint32_t>(std::count(
                   text.begin(), text.begin() + static_cast<std::ptrdiff_t>(offset), '\n'));
}

TextPlace LaunchCandidates::kernelPlace() const {
    if (text_)
        return {text_->function->file, text_->function->bodyBegin + 1, text_->function};
    return {0, program_.files().empty() ? 0 : program_.files().front().tokens.size(), nullptr};
}

std::vector<std::string> LaunchCandidates::templateArguments(const SiteText* site) const {
    return launchTemplateArguments(program_, kernel_, settings(false, nullptr, {}, site),
                                   site == nullptr ? kernelPlace() : site->place, site);
}

/// The constant that marks an element behind the pointer as empty. A kernel that finds no such
/// element would look for one for ever.
std::optional<std::int64_t>
LaunchCandidates::sentinelOf(const analysis::Parameter& parameter) const {
    const bool integral = parameter.type.scalar >= analysis::ScalarKind::Bool &&
                          parameter.type.scalar <= analysis::ScalarKind::UInt64;
    if (!text_ || (!integral && parameter.type.scalar != analysis::ScalarKind::Unknown))
        return std::nullopt;
    const auto found = text_->sentinels.find(parameter.name);
    if (found == text_->sentinels.end())
        return std::nullopt;
    const auto strict = settings(false, nullptr, {});
    const auto value =
        HostScope(program_, kernelPlace(), strict).value(found->second.first, found->second.second);
    if (!value || value->isFloating)
        return std::nullopt;
    return value->integer;
}

void LaunchCandidates::addSymbols(LaunchSpec& spec) const {
    if (!text_)
        return;
    auto contents = symbolContents(program_, *text_->function, settings(false, nullptr, {}));
    spec.symbols = std::move(contents.symbols);
    spec.notes.insert(spec.notes.end(), contents.notes.begin(), contents.notes.end());
}

/// The exclusive bound of an index pointer's elements: `usual`, or the length of a shorter array
/// that an element subscripts.
std::int64_t
LaunchCandidates::indexRangeOf(const analysis::Parameter& pointer, std::int64_t usual,
                               const LaunchSpec& spec,
                               const std::vector<std::optional<std::int64_t>>& bytes) const {
    if (!text_ || !text_->subscripted.contains(pointer.name))
        return usual;
    const auto& arrays = text_->subscripted.at(pointer.name);
    for (std::size_t i = 0; i < kernel_.parameters.size(); ++i) {
        const auto& parameter = kernel_.parameters[i];
        if (!bytes[i] || *bytes[i] <= 0 || !arrays.contains(parameter.name))
            continue;
        const auto type = passedType(program_, file_, kernel_, parameter, spec.templateArguments);
        if (type && type->bytes > 0)
            usual = std::min<std::int64_t>(usual, *bytes[i] / type->bytes);
    }
    return usual;
}

void LaunchCandidates::passArguments(LaunchSpec& spec,
                                     const std::vector<std::optional<Value>>& values,
                                     const std::vector<std::optional<std::int64_t>>& bytes) const {
    addSymbols(spec);
    std::int64_t indexRange = 0;
    for (std::size_t i = 0; i < kernel_.parameters.size(); ++i) {
        const auto& parameter = kernel_.parameters[i];
        const auto integer = values[i] && !values[i]->isFloating ? values[i]->integer : 0;
        if (parameter.type.pointerDepth == 0 && integer > 1 && guessOf(parameter).isExtent)
            indexRange = indexRange == 0 ? integer : std::min(indexRange, integer);
    }
    const auto searched =
        searchedLengths(kernel_, [&](std::size_t i) -> std::optional<std::int64_t> {
            const auto& parameter = kernel_.parameters[i];
            if (parameter.type.pointerDepth > 0 || isFloatingScalar(parameter.type.scalar))
                return std::nullopt;
            return values[i] ? values[i]->asInteger() : guessOf(parameter).integer;
        });
    for (std::size_t i = 0; i < kernel_.parameters.size(); ++i) {
        const auto& parameter = kernel_.parameters[i];
        const auto type = passedType(program_, file_, kernel_, parameter, spec.templateArguments);
        if (!type)
            continue; // all() has refused it
        if (type->isPointer) {
            auto buffer =
                bufferSpec(program_, parameter, *type, text_,
                           indexRangeOf(parameter, indexRange == 0 ? 64 : indexRange, spec, bytes));
            if (const auto empty = sentinelOf(parameter)) {
                buffer.fill = Fill::Constant;
                buffer.value = static_cast<double>(*empty);
                buffer.isInput = true;
                if (type->scalar == analysis::ScalarKind::Unknown && buffer.elementBytes % 4 == 0)
                    buffer.element = analysis::ScalarKind::Int32;
                spec.notes.push_back("'" + parameter.name + "' holds " + std::to_string(*empty) +
                                     " everywhere, the constant that the kernel looks for in it");
            }
            if (bytes[i] && *bytes[i] > 0)
                buffer.elements = static_cast<std::uint64_t>(*bytes[i]) / buffer.elementBytes;
            buffer.minElements = searched[i];
            spec.arguments.emplace_back(std::move(buffer));
            continue;
        }
        const auto guess = guessOf(parameter);
        const bool floating = isFloatingScalar(type->scalar);
        const auto value =
            values[i].value_or(floating ? Value::of(guess.floating) : Value::of(guess.integer));
        if (!values[i] && (floating || type->scalar != analysis::ScalarKind::Unknown))
            spec.notes.push_back(
                parameter.name + " is taken to be " +
                (floating ? std::to_string(guess.floating) : std::to_string(guess.integer)) +
                ", going by its name");
        spec.arguments.emplace_back(scalarSpec(program_, parameter, *type, value));
    }
}

/// Numbers of blocks whose names tell nothing: one block alone would not show how blocks differ.
std::map<std::string, std::int64_t>
LaunchCandidates::gridLengths(const SiteText& site, bool mayGuess, const Overrides& given,
                              const EvaluationLog& block) const {
    EvaluationLog log;
    const auto guessing = settings(mayGuess, &log, given, &site);
    const auto [begin, end] = site.configuration[0];
    static_cast<void>(HostScope(program_, site.place, guessing).extent(begin, end));
    std::map<std::string, std::int64_t> lengths;
    for (const std::string& name : log.counts) {
        if (log.guesses.contains(name) && !block.guesses.contains(name))
            lengths.emplace(name, usualBlocks);
    }
    return lengths;
}

std::optional<LaunchCandidate> LaunchCandidates::fromSite(const SiteText& site, bool mayGuess,
                                                          const Overrides& overrides) const {
    EvaluationLog log;
    EvaluationLog blockLog;
    auto given = casesAround(site);
    given.insert(overrides.begin(), overrides.end());
    const auto blockSettings = settings(mayGuess, &blockLog, given, &site);
    const auto block = HostScope(program_, site.place, blockSettings)
                           .extent(site.configuration[1].first, site.configuration[1].second);
    auto sizes = settings(mayGuess, &log, given, &site);
    sizes.lengths.merge(gridLengths(site, mayGuess, given, blockLog));
    const auto strict = settings(false, &log, given, &site);
    const HostScope scope(program_, site.place, sizes);
    const HostScope strictScope(program_, site.place, strict);
    auto grid = scope.extent(site.configuration[0].first, site.configuration[0].second);
    if (!block || !grid)
        return std::nullopt;
    if (!log.guesses.empty()) { // too small a guess for its divisor
        for (auto& component : *grid)
            component = std::max<std::int64_t>(component, 1);
    }
    const auto blockDim = dim3Of(*block, 1024);
    const auto gridDim = dim3Of(*grid, 0x7fffffff);
    if (!blockDim || !gridDim || blockDim->count() > 1024)
        return std::nullopt;

    LaunchCandidate result;
    auto& spec = result.spec;
    spec.origin = mayGuess ? LaunchOrigin::Guessed : LaunchOrigin::Evaluated;
    spec.kernel = kernel_.qualifiedName;
    spec.templateArguments = templateArguments(&site);
    spec.grid = *gridDim;
    spec.isGridOfDevice = log.asksDevice;
    spec.isGridStandIn = log.usesEarlierValue;
    spec.block = *blockDim;
    if (site.configuration.size() > 2) {
        const auto shared = scope.value(site.configuration[2].first, site.configuration[2].second);
        spec.dynamicSharedBytes = shared && shared->asInteger() > 0
                                      ? static_cast<std::uint64_t>(shared->asInteger())
                                  : shared ? 0
                                           : 16384;
    }
    std::vector<std::optional<Value>> values(kernel_.parameters.size());
    std::vector<std::optional<std::int64_t>> bytes(kernel_.parameters.size());
    std::vector<std::optional<std::int64_t>> guessedBytes(kernel_.parameters.size());
    std::vector<std::optional<std::int64_t>> offsets(kernel_.parameters.size());
    for (std::size_t i = 0; i < kernel_.parameters.size() && i < site.arguments.size(); ++i) {
        const auto [begin, end] = site.arguments[i];
        if (kernel_.parameters[i].type.pointerDepth > 0) {
            bytes[i] = strictScope.allocatedBytes(begin, end);
            if (!bytes[i] && mayGuess)
                guessedBytes[i] = scope.allocatedBytes(begin, end);
            offsets[i] =
                pointerOffset(program_.files()[site.place.file].tokens, begin, end, strictScope);
            continue;
        }
        values[i] = strictScope.value(begin, end);
        // A guess counts something: at least 1. A factor of 1 would hide what an edit leaves out.
        if (!values[i] && mayGuess && !isFloatingScalar(kernel_.parameters[i].type.scalar))
            values[i] = scope.value(begin, end);
    }
    if (mayGuess)
        coverBounds(spec, site, values, given);
    spec.madeFor = madeFor(site, spec.templateArguments);
    const auto line = std::to_string(site.line);
    spec.notes.push_back("grid and block from the launch on line " + line);
    if (mayGuess && !log.guesses.empty())
        spec.notes.push_back("not to be seen in the file, so guessed from the names: " +
                             listed(log.guesses));
    passArguments(spec, values, bytes);
    for (std::size_t i = 0; i < std::min(offsets.size(), spec.arguments.size()); ++i)
        if (auto* buffer = std::get_if<BufferSpec>(&spec.arguments[i])) {
            buffer->shift = shiftOf(offsets[i].value_or(0), buffer->elementBytes);
            if (guessedBytes[i] && *guessedBytes[i] > 0 && buffer->elementBytes > 0 &&
                !offsets[i].value_or(0))
                buffer->minElements =
                    std::max(buffer->minElements,
                             static_cast<std::uint64_t>(*guessedBytes[i]) / buffer->elementBytes);
        }
    for (const auto& [root, value] : log.roots) {
        if (!blockLog.roots.contains(root) && !blockLog.guesses.contains(root) &&
            !isCompiledIn(root))
            result.roots.emplace(root, value);
    }
    return result;
}

std::optional<LaunchCandidate> LaunchCandidates::fitted(const SiteText& site, bool mayGuess) const {
    auto candidate = fromSite(site, mayGuess, {});
    if (!candidate || !isTooLarge(candidate->spec))
        return candidate;
    for (int shift = 1; shift <= 16; ++shift) {
        Overrides overrides;
        for (const auto& [root, value] : candidate->roots)
            overrides[root] = std::max(std::min(value, minScaledRoot), value >> shift);
        auto smaller = fromSite(site, mayGuess, overrides);
        if (!smaller || isTooLarge(smaller->spec))
            continue;
        smaller->spec.notes.push_back((target_ == LaunchTarget::Gpu
                                           ? "scaled down to fit: "
                                           : "scaled down to be emulated: ") +
                                      listed(overrides));
        smaller->roots = overrides;
        return smaller;
    }
    return candidate;
}

Result<std::vector<LaunchCandidate>> LaunchCandidates::all() const {
    const auto arguments = templateArguments(sites_.empty() ? nullptr : &sites_.front());
    for (const auto& parameter : kernel_.parameters) {
        if (auto type = passedType(program_, file_, kernel_, parameter, arguments); !type)
            return std::unexpected(type.error());
    }
    if (const auto pointer = text_ ? pointerSymbol(program_, *text_->function) : std::nullopt)
        return std::unexpected(
            Error{ErrorKind::Unsupported,
                  "kernel '" + kernel_.name + "' goes through '" + pointer->name +
                      "', a pointer that the host copies to the device",
                  pointer->where, "profile this kernel within its own program on a GPU"});
    if (const auto unnamed = std::ranges::find(arguments, ""); unnamed != arguments.end()) {
        const auto& parameter =
            kernel_.templateParameters[static_cast<std::size_t>(unnamed - arguments.begin())];
        return std::unexpected(Error{ErrorKind::Unsupported,
                                     "template parameter '" + parameter.name + "' of kernel '" +
                                         kernel_.name +
                                         "' is a function, and no launch in the file says which",
                                     kernel_.file + ":" + std::to_string(line()),
                                     "pin a launch with its template arguments"});
    }
    if (const auto lambda = std::ranges::find_if(arguments, isUnnamed); lambda != arguments.end())
        return std::unexpected(Error{
            ErrorKind::Unsupported,
            "kernel '" + kernel_.name +
                "' is launched with a lambda, which has no name to instantiate it with",
            kernel_.file + ":" + std::to_string(sites_.empty() ? line() : sites_.front().line),
            "pin a launch with a named function object"});
    std::vector<LaunchCandidate> result;
    const auto add = [&](std::optional<LaunchCandidate> candidate) {
        const bool known =
            candidate && std::ranges::any_of(result, [&](const LaunchCandidate& other) {
                return other.spec.grid == candidate->spec.grid &&
                       other.spec.block == candidate->spec.block &&
                       other.spec.templateArguments == candidate->spec.templateArguments;
            });
        if (candidate && !known)
            result.push_back(std::move(*candidate));
    };
    for (const auto& pin : source_->pinsOf(kernel_))
        add(pinned(pin, {}));
    for (const bool mayGuess : {false, true}) {
        for (const auto& site : sites_)
            add(fitted(site, mayGuess));
    }
    if (result.empty())
        result.push_back(guessed({}));
    return result;
}

std::optional<LaunchSpec> LaunchCandidates::again(const LaunchSpec& launch,
                                                  const Overrides& overrides) const {
    const auto same = [&](const std::optional<LaunchCandidate>& candidate) {
        return candidate && candidate->spec.grid == launch.grid &&
               candidate->spec.block == launch.block &&
               candidate->spec.templateArguments == launch.templateArguments;
    };
    const auto specOf = [](std::optional<LaunchCandidate> candidate) {
        return candidate ? std::optional(std::move(candidate->spec)) : std::nullopt;
    };
    for (const auto& pin : source_->pinsOf(kernel_)) {
        if (same(pinned(pin, {})))
            return specOf(pinned(pin, overrides));
    }
    for (const bool mayGuess : {false, true}) {
        for (const auto& site : sites_) {
            if (same(fitted(site, mayGuess)))
                return specOf(fromSite(site, mayGuess, overrides));
        }
    }
    return guessed(overrides).spec;
}

} // namespace kernelskill::engine
