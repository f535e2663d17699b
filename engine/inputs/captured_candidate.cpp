#include "engine/inputs/known_texts.h"
#include "engine/inputs/launch_candidates.h"
#include "engine/inputs/launch_pair.h"
#include "engine/inputs/launch_text.h"
#include "engine/inputs/pointer_shift.h"

#include <algorithm>
#include <cctype>
#include <cstring>

namespace kernelskill::engine {

using analysis::Value;

namespace {

using analysis::ScalarKind;

template <typename T>
T valueOf(const std::vector<std::byte>& bytes) {
    T value{};
    std::memcpy(&value, bytes.data(), std::min(sizeof value, bytes.size()));
    return value;
}

/// The value for display, and for launches that follow from it.
void interpret(ScalarSpec& spec, ScalarKind kind) {
    switch (kind) {
    case ScalarKind::Bool:
    case ScalarKind::UInt8:
        spec.integer = valueOf<std::uint8_t>(spec.bytes);
        break;
    case ScalarKind::Char:
        spec.integer = valueOf<std::int8_t>(spec.bytes);
        break;
    case ScalarKind::Int16:
        spec.integer = valueOf<std::int16_t>(spec.bytes);
        break;
    case ScalarKind::UInt16:
        spec.integer = valueOf<std::uint16_t>(spec.bytes);
        break;
    case ScalarKind::Int32:
        spec.integer = valueOf<std::int32_t>(spec.bytes);
        break;
    case ScalarKind::UInt32:
        spec.integer = valueOf<std::uint32_t>(spec.bytes);
        break;
    case ScalarKind::Int64:
    case ScalarKind::UInt64:
        spec.integer = valueOf<std::int64_t>(spec.bytes);
        break;
    case ScalarKind::Float:
        spec.floating = valueOf<float>(spec.bytes);
        break;
    case ScalarKind::Double:
        spec.floating = valueOf<double>(spec.bytes);
        break;
    default: // A class, a vector or a 16-bit float: its bytes are enough.
        break;
    }
}

Error mismatch(const StoredLaunch& stored, const std::string& what) {
    return {ErrorKind::Failed,
            "what was captured from '" + stored.launch.program + "' is not used: " + what,
            {},
            "capture the program again"};
}

bool overlap(const CapturedBuffer& one, const CapturedBuffer& other) {
    return one.address < other.address + other.bytes && other.address < one.address + one.bytes;
}

/// Pointers into the same memory, which get a copy each.
void noteAliases(LaunchSpec& spec, const std::vector<CapturedParameter>& parameters) {
    const auto nameOf = [&](std::size_t position) {
        return std::get<BufferSpec>(spec.arguments[position]).name;
    };
    const auto isBuffer = [&](std::size_t position) {
        return parameters[position].buffer &&
               std::holds_alternative<BufferSpec>(spec.arguments[position]);
    };
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        for (std::size_t j = i + 1; j < parameters.size(); ++j) {
            if (isBuffer(i) && isBuffer(j) && overlap(*parameters[i].buffer, *parameters[j].buffer))
                spec.notes.push_back("'" + nameOf(i) + "' and '" + nameOf(j) +
                                     "' share an allocation in the program; here each has a copy");
        }
    }
}

} // namespace

Result<LaunchSpec> LaunchCandidates::captured(const StoredLaunch& stored, CapturedUse use) const {
    const CapturedLaunch& launch = stored.launch;
    if (!launch.missing.empty())
        return std::unexpected(mismatch(stored, launch.missing));
    if (launch.parameters.size() != kernel_.parameters.size())
        return std::unexpected(
            mismatch(stored, "the kernel took " + std::to_string(launch.parameters.size()) +
                                 " parameters and takes " +
                                 std::to_string(kernel_.parameters.size()) + " now"));
    LaunchSpec spec;
    spec.origin = LaunchOrigin::Captured;
    spec.kernel = kernel_.qualifiedName;
    spec.templateArguments = stored.kernel.templateArguments;
    spec.grid = {launch.grid[0], launch.grid[1], launch.grid[2]};
    spec.block = {launch.block[0], launch.block[1], launch.block[2]};
    spec.dynamicSharedBytes = launch.sharedBytes;
    spec.notes.push_back("captured from '" + launch.program + "', launch " +
                         std::to_string(launch.ordinal) + " of this kernel" +
                         (launch.time.empty() ? "" : ", at " + launch.time));
    addSymbols(spec);
    for (std::size_t i = 0; i < kernel_.parameters.size(); ++i) {
        const auto& parameter = kernel_.parameters[i];
        const CapturedParameter& passed = launch.parameters[i];
        const auto type = passedType(program_, file_, kernel_, parameter, spec.templateArguments);
        if (!type && use == CapturedUse::Numbers) {
            spec.arguments.emplace_back(ScalarSpec{parameter.name, passed.value, {}, {}});
            continue;
        }
        if (!type)
            return std::unexpected(mismatch(stored, type.error().what));
        const std::size_t expected = type->isPointer ? sizeof(std::uint64_t) : type->bytes;
        if (expected != 0 && expected != passed.value.size())
            return std::unexpected(mismatch(
                stored, "'" + parameter.name + "' had " + std::to_string(passed.value.size()) +
                            " bytes and has " + std::to_string(expected) + " now"));
        const bool isNull =
            std::ranges::all_of(passed.value, [](std::byte byte) { return byte == std::byte{0}; });
        if (!type->isPointer || isNull) {
            ScalarSpec scalar{parameter.name, passed.value, {}, {}};
            if (type->isPointer)
                scalar.integer = 0;
            else if (parameter.type.lanes <= 1)
                interpret(scalar, type->scalar);
            spec.arguments.emplace_back(std::move(scalar));
            continue;
        }
        auto buffer = bufferSpec(program_, parameter, *type, text_, 0);
        if (!passed.buffer) {
            spec.notes.push_back("'" + parameter.name +
                                 "' pointed to no memory of the GPU; its contents are invented");
        } else {
            buffer.elements = passed.buffer->bytes / buffer.elementBytes;
            buffer.shift =
                shiftOf(static_cast<std::int64_t>(passed.buffer->address / buffer.elementBytes),
                        buffer.elementBytes);
            if (passed.buffer->before.empty()) {
                spec.notes.push_back(
                    "'" + parameter.name +
                    "' has its size, but contents that are invented: " + passed.buffer->missing);
            } else {
                buffer.fill = Fill::Captured;
                buffer.captured =
                    CapturedBytes{passed.buffer->before, passed.buffer->after, buffer.element};
            }
        }
        spec.arguments.emplace_back(std::move(buffer));
    }
    noteAliases(spec, launch.parameters);
    return spec;
}

LaunchCandidates::Overrides LaunchCandidates::namesPassed(const SiteText& site,
                                                          const LaunchSpec& captured) const {
    const auto& tokens = program_.files()[site.place.file].tokens;
    Overrides values = casesAround(site);
    for (std::size_t i = 0; i < site.arguments.size() && i < captured.arguments.size(); ++i) {
        const auto [begin, end] = site.arguments[i];
        const auto* scalar = std::get_if<ScalarSpec>(&captured.arguments[i]);
        // Only a name as it stands: what an expression's parts are does not follow.
        if (scalar != nullptr && scalar->integer && end == begin + 1 &&
            tokens[begin].isIdentifier())
            values.insert_or_assign(std::string(tokens[begin].text), *scalar->integer);
    }
    return values;
}

std::vector<LaunchCandidates::CapturedSite>
LaunchCandidates::sitesWith(const LaunchSpec& captured) const {
    std::vector<CapturedSite> result;
    for (const SiteText& site : sites_) {
        CapturedSite found;
        for (const auto& [begin, end] : site.configuration)
            found.configuration += program_.textOf(site.place.file, begin, end) + ";";
        const auto strict = settings(false, nullptr, namesPassed(site, captured), &site);
        const HostScope scope(program_, site.place, strict);
        const auto grid = scope.extent(site.configuration[0].first, site.configuration[0].second);
        const auto block = scope.extent(site.configuration[1].first, site.configuration[1].second);
        const auto gridDim = grid ? dim3Of(*grid, 0x7fffffff) : std::nullopt;
        const auto blockDim = block ? dim3Of(*block, 1024) : std::nullopt;
        auto shared = std::optional(Value::of(std::int64_t{0}));
        if (site.configuration.size() > 2)
            shared = scope.value(site.configuration[2].first, site.configuration[2].second);
        if (gridDim && blockDim && shared && shared->asInteger() >= 0)
            found.shape =
                SiteShape{*gridDim, *blockDim, static_cast<std::uint64_t>(shared->asInteger())};
        result.push_back(std::move(found));
    }
    return result;
}

namespace {

/// A grid that a function of the host makes from a number: `gridOf(n)`.
struct CountedGrid {
    std::string function;
    std::string count;
};

std::optional<CountedGrid> countedGrid(const std::string& text) {
    const std::size_t open = text.find('(');
    if (open == std::string::npos || open == 0 || !text.ends_with(')'))
        return std::nullopt;
    CountedGrid grid{text.substr(0, open), text.substr(open + 1, text.size() - open - 2)};
    const auto isOfName = [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == ':';
    };
    if (!std::ranges::all_of(grid.function, isOfName) || grid.function == "dim3")
        return std::nullopt;
    int depth = 0;
    for (const char c : grid.count) {
        depth += c == '(' ? 1 : c == ')' ? -1 : 0;
        if (depth < 0 || (depth == 0 && c == ','))
            return std::nullopt;
    }
    return grid;
}

} // namespace

bool LaunchCandidates::changesCount(const LaunchCandidates& before, std::size_t site) const {
    const auto countIn = [&](const LaunchCandidates& launches) {
        const SiteText& text = launches.sites_.at(site);
        const auto [begin, end] = text.configuration.at(0);
        return countedGrid(launches.program_.textOf(text.place.file, begin, end));
    };
    const auto then = countIn(before);
    const auto now = countIn(*this);
    return then && now && then->function == now->function && then->count != now->count;
}

std::optional<LaunchSpec> LaunchCandidates::relaunched(const LaunchCandidates& before,
                                                       std::size_t site,
                                                       const LaunchSpec& captured) const {
    const SiteText& old = before.sites_.at(site);
    const SiteText& here = sites_.at(site);
    const auto oldText = [&](std::size_t part) {
        const auto [begin, end] = old.configuration.at(part);
        return before.program_.textOf(old.place.file, begin, end);
    };
    const auto textAt = [&](SiteText::Range range) {
        return program_.textOf(here.place.file, range.first, range.second);
    };
    const auto strict = settings(false, nullptr, namesPassed(here, captured), &here);
    const HostScope scope(program_, here.place, strict);
    KnownTexts known;
    known.addExtents(oldText(0), captured.grid);
    known.addExtents(oldText(1), captured.block);
    const auto extents = [&](std::size_t part, const Dim3& seen,
                             std::int64_t most) -> std::optional<Dim3> {
        const std::string text = textAt(here.configuration.at(part));
        if (text == oldText(part))
            return seen;
        const auto expression = analysis::parseExpression(known.numbersIn(text));
        const auto extent = expression ? scope.extent(*expression) : std::nullopt;
        return extent ? dim3Of(*extent, most) : std::nullopt;
    };
    const auto numberOf = [&](const std::string& text) -> std::optional<std::int64_t> {
        const auto expression = analysis::parseExpression(known.numbersIn(text));
        const auto value = expression ? analysis::evaluate(*expression, scope) : std::nullopt;
        return value ? std::optional(value->asInteger()) : std::nullopt;
    };
    // A function of the host is not evaluated. Its grid is enough for the old number of threads, so
    // a grid in proportion is taken to be enough for the new number.
    const auto proportional = [&]() -> std::optional<Dim3> {
        const auto then = countedGrid(oldText(0));
        const auto now = countedGrid(textAt(here.configuration.at(0)));
        if (!then || !now || then->function != now->function)
            return std::nullopt;
        const auto from = numberOf(then->count);
        const auto to = numberOf(now->count);
        constexpr std::int64_t most = 0x7fffffff;
        if (!from || !to || *from <= 0 || *to <= 0 || *from > most || *to > most)
            return std::nullopt;
        const std::int64_t blocks = (captured.grid.x * *to + *from - 1) / *from;
        if (blocks > most)
            return std::nullopt;
        return Dim3{static_cast<std::uint32_t>(blocks), captured.grid.y, captured.grid.z};
    };
    auto grid = extents(0, captured.grid, 0x7fffffff);
    if (!grid)
        grid = proportional();
    const auto block = extents(1, captured.block, 1024);
    const bool hasShared = here.configuration.size() > 2;
    if (!grid || !block || hasShared != (old.configuration.size() > 2) ||
        (hasShared && textAt(here.configuration[2]) != oldText(2)))
        return std::nullopt;
    LaunchSpec launch = captured;
    launch.grid = *grid;
    launch.block = *block;
    for (std::size_t i = captured.arguments.size(); i < kernel_.parameters.size(); ++i) {
        if (i >= here.arguments.size())
            return std::nullopt;
        const auto expression =
            analysis::parseExpression(known.numbersIn(textAt(here.arguments[i])));
        const auto value = expression ? analysis::evaluate(*expression, scope) : std::nullopt;
        if (!value)
            return std::nullopt;
        ScalarSpec scalar{kernel_.parameters[i].name,
                          std::vector<std::byte>(kernel_.parameters[i].type.size),
                          {},
                          {}};
        setInteger(scalar, value->asInteger());
        launch.arguments.emplace_back(std::move(scalar));
    }
    return launch;
}

} // namespace kernelskill::engine
