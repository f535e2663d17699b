#include "engine/comparison/float64_reference.h"

#include "analysis/syntax/lexer.h"
#include "analysis/syntax/scalar_bytes.h"
#include "engine/comparison/scalar_row.h"
#include "engine/inputs/argument_specs.h"
#include "engine/inputs/class_layout.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <utility>

namespace kernelskill::engine {
namespace {

using analysis::ScalarKind;
using analysis::TokenKind;

// Float functions whose double form is not just the name without 'f'.
const std::map<std::string_view, std::string_view> renamedFunctions{
    {"__expf", "exp"},          {"__exp10f", "exp10"},      {"__logf", "log"},
    {"__log2f", "log2"},        {"__log10f", "log10"},      {"__sinf", "sin"},
    {"__cosf", "cos"},          {"__tanf", "tan"},          {"__powf", "pow"},
    {"__fadd_rn", "__dadd_rn"}, {"__fmul_rn", "__dmul_rn"}, {"__fmaf_rn", "__fma_rn"},
    {"__fsub_rn", "__dsub_rn"}, {"__fdiv_rn", "__ddiv_rn"}, {"__fsqrt_rn", "__dsqrt_rn"},
    {"__frcp_rn", "__drcp_rn"}, {"__frsqrt_rn", "rsqrt"},
};

constexpr std::array<std::string_view, 46> suffixedFunctions{
    "acosf", "acoshf",    "asinf",  "asinhf",  "atan2f",  "atanf",      "atanhf", "cbrtf",
    "ceilf", "copysignf", "cosf",   "coshf",   "cospif",  "erfcf",      "erff",   "exp10f",
    "exp2f", "expf",      "expm1f", "fabsf",   "fdimf",   "floorf",     "fmaf",   "fmaxf",
    "fminf", "fmodf",     "hypotf", "ldexpf",  "lgammaf", "log10f",     "log1pf", "log2f",
    "logf",  "powf",      "rintf",  "roundf",  "rsqrtf",  "sinf",       "sinhf",  "sinpif",
    "sqrtf", "tanf",      "tanhf",  "tgammaf", "truncf",  "nearbyintf",
};

// Names that access the bits of a float, compute in another format, or leave the language.
constexpr std::array<std::string_view, 12> obstacles{
    "__float_as_int", "__float_as_uint", "__int_as_float", "__uint_as_float", "asm",     "__asm__",
    "wmma",           "union",           "memcpy",         "__fdividef",      "sincosf", "bit_cast",
};

/// Parts of names that tell the bits of a 16-bit number, or are of a shorter format.
constexpr std::array<std::string_view, 9> sixteenBitObstacles{
    "_as_short",    "_as_ushort", "__short_as_", "__ushort_as_", "_raw",
    "CUDART_INF_F", "fp8",        "_FP16",       "_BF16",
};

/// Names that end in "f" and are none of float functions.
constexpr std::array<std::string_view, 5> notOfFloat{"if", "sizeof", "erf", "modf", "offsetof"};

/// The types that the prelude stores as doubles for a float64 form.
constexpr std::array<std::string_view, 10> sixteenBitTypes{
    "__half",  "half",  "nv_half",  "__nv_half",  "__nv_bfloat16",
    "__half2", "half2", "nv_half2", "__nv_half2", "__nv_bfloat162",
};

bool isSixteenBitType(std::string_view name) {
    return std::ranges::find(sixteenBitTypes, name) != sixteenBitTypes.end() ||
           name == "nv_bfloat16" || name == "nv_bfloat162";
}

/// Whether the name is of a function that converts from or to 16 bits, or computes in them. The
/// prelude's form with doubles rounds nothing.
bool isSixteenBitFunction(std::string_view name) {
    return name.contains("half") || name.contains("bfloat") || name == "__low2float" ||
           name == "__high2float" || (name.starts_with("__h") && name != "__host__");
}

bool isFloatVector(std::string_view name, std::string_view prefix) {
    return name.size() == prefix.size() + 1 && name.starts_with(prefix) && name.back() >= '1' &&
           name.back() <= '4';
}

bool isFloatLiteral(std::string_view text) {
    bool isHexadecimal = text.starts_with("0x") || text.starts_with("0X");
    bool hasSuffix = text.ends_with('f') || text.ends_with('F');
    return hasSuffix && (!isHexadecimal || text.find_first_of("pP") != std::string_view::npos);
}

std::string renamed(const analysis::Token& token) {
    std::string_view text = token.text;
    if (token.kind == TokenKind::Number && isFloatLiteral(text))
        return std::string(text.substr(0, text.size() - 1));
    if (token.kind != TokenKind::Identifier)
        return std::string(text);
    if (text == "float")
        return "double";
    if (isFloatVector(text, "float") || isFloatVector(text, "make_float")) {
        std::string name(text);
        return name.replace(name.find("float"), 5, "double");
    }
    if (auto other = renamedFunctions.find(text); other != renamedFunctions.end())
        return std::string(other->second);
    if (std::ranges::find(suffixedFunctions, text) != suffixedFunctions.end())
        return std::string(text.substr(0, text.size() - 1));
    return std::string(text);
}

Error unsupported(std::string what) {
    return Error{ErrorKind::Unsupported, std::move(what), "", ""};
}

/// `reinterpret_cast<float4*>` remains correct if both sides double; a cast to integers uses the
/// bits. Beside 16-bit numbers, which become four times as long, only casts to such do.
bool castsToFloatFamily(const std::vector<analysis::Token>& tokens, std::size_t keyword,
                        bool hasSixteenBits) {
    for (std::size_t index = keyword + 2; index < tokens.size() && tokens[index].text != ">";
         ++index) {
        std::string_view text = tokens[index].text;
        if (hasSixteenBits ? isSixteenBitType(text)
                           : text == "float" || text == "double" || isFloatVector(text, "float"))
            return true;
    }
    return false;
}

bool namesSixteenBits(std::string_view text) {
    return std::ranges::any_of(analysis::lex(text), [](const analysis::Token& token) {
        const bool isDefinition = token.kind == TokenKind::Directive &&
                                  token.text.find("define") != std::string_view::npos;
        return isDefinition ? namesSixteenBits(token.text.substr(token.text.find('#') + 1))
                            : token.kind == TokenKind::Identifier && isSixteenBitType(token.text);
    });
}

bool isNarrow(ScalarKind kind) {
    return kind == ScalarKind::Float || kind == ScalarKind::Half || kind == ScalarKind::BFloat16;
}

bool isSixteenBitType(const analysis::Type& type) {
    return type.scalar == ScalarKind::Half || type.scalar == ScalarKind::BFloat16;
}

/// Whether a variable of the kernel is of a 16-bit type, which a header may have named.
bool holdsSixteenBits(const analysis::KernelModel& kernel) {
    const auto isShort = [](const auto& named) { return isSixteenBitType(named.type); };
    return std::ranges::any_of(kernel.parameters, isShort) ||
           std::ranges::any_of(kernel.body.variables, isShort);
}

/// Whether the function uses a `__device__` or `__constant__` variable of a 16-bit type.
bool usesSixteenBitSymbol(const analysis::KernelModel& function) {
    return std::ranges::any_of(function.body.variables, [](const analysis::Variable& variable) {
        return isSixteenBitType(variable.type) &&
               (variable.storage == analysis::Storage::DeviceGlobal ||
                variable.storage == analysis::Storage::Constant);
    });
}

/// The numbers that an argument consists of; nullopt if they are not known.
std::optional<std::vector<ClassNumber>>
numbersOf(KernelInFile subject, std::size_t position, const ScalarSpec& scalar,
          const std::vector<std::string>& templateArguments) {
    if (scalar.integer)
        return std::vector<ClassNumber>{};
    const auto& parameters = subject.kernel.parameters;
    const analysis::Parameter* parameter =
        position < parameters.size() ? &parameters[position] : nullptr;
    if (scalar.floating) {
        const ScalarKind stated = parameter != nullptr && isNarrow(parameter->type.scalar)
                                      ? parameter->type.scalar
                                      : ScalarKind::Float;
        const std::size_t bytes = analysis::scalarBytes(stated);
        const bool isVector =
            parameter != nullptr && parameter->type.lanes > 1 && parameter->type.scalar == stated;
        const std::size_t count = isVector                       ? parameter->type.lanes
                                  : scalar.bytes.size() == bytes ? 1
                                                                 : 0;
        std::vector<ClassNumber> lanes;
        for (std::size_t lane = 0; lane < count; ++lane)
            lanes.push_back({"", stated, lane * bytes, bytes});
        return lanes;
    }
    if (parameter == nullptr)
        return std::nullopt;
    const ProgramText program(subject.file);
    const auto type =
        passedType(program, subject.file, subject.kernel, *parameter, templateArguments);
    if (!type)
        return std::nullopt;
    auto layout = layoutOf(program, type->name);
    const bool isInside = std::ranges::all_of(layout.numbers, [&](const ClassNumber& number) {
        return number.offset + number.bytes <= scalar.bytes.size();
    });
    if (!layout.isWhole || !isInside)
        return std::nullopt;
    return std::move(layout.numbers);
}

/// Makes a double of each float, also of those in 16 bits. `numbers` are those of the argument, in
/// order and inside of it.
void widen(ScalarSpec& scalar, const std::vector<ClassNumber>& numbers) {
    const auto isFloat = [](const ClassNumber& number) { return isNarrow(number.kind); };
    if (std::ranges::none_of(numbers, isFloat))
        return;
    std::vector<std::byte> wide;
    std::size_t alignment = 1;
    for (const ClassNumber& number : numbers) {
        const std::byte* from = scalar.bytes.data() + number.offset;
        const std::size_t bytes = isFloat(number) ? sizeof(double) : number.bytes;
        const std::size_t at = (wide.size() + bytes - 1) / bytes * bytes;
        alignment = std::max(alignment, bytes);
        wide.resize(at + bytes);
        if (isFloat(number)) {
            const double value = floatingScalar(number.kind, from);
            std::memcpy(wide.data() + at, &value, sizeof value);
        } else {
            std::memcpy(wide.data() + at, from, bytes);
        }
    }
    wide.resize((wide.size() + alignment - 1) / alignment * alignment);
    scalar.bytes = std::move(wide);
}

} // namespace

namespace {

Result<std::string> withDoubleArithmetic(std::string_view text, bool hasSixteenBits) {
    auto tokens = analysis::lex(text);
    std::string result;
    result.reserve(text.size() + text.size() / 16);
    std::uint32_t copied = 0;
    auto rewrite = [&](const analysis::Token& token, const std::string& replacement) {
        result += text.substr(copied, token.span.begin - copied);
        result += replacement;
        copied = token.span.end;
    };
    for (std::size_t index = 0; index < tokens.size(); ++index) {
        const analysis::Token& token = tokens[index];
        if (token.kind == TokenKind::Directive) {
            // Macros are text of the kernel, too: `#define SCALE 0.5f`. The directive's own tokens
            // begin after '#'.
            if (token.text.find("define") == std::string_view::npos)
                continue;
            auto hash = token.text.find('#');
            auto inner = withDoubleArithmetic(token.text.substr(hash + 1), hasSixteenBits);
            if (!inner)
                return inner;
            rewrite(token, std::string(token.text.substr(0, hash + 1)) + *inner);
            continue;
        }
        if (token.kind == TokenKind::Identifier) {
            const auto isPart = [&](std::string_view part) { return token.text.contains(part); };
            if (std::ranges::find(obstacles, token.text) != obstacles.end() ||
                (hasSixteenBits && std::ranges::any_of(sixteenBitObstacles, isPart)))
                return std::unexpected(
                    unsupported(fmt::format("{} has no double counterpart", token.text)));
            if (token.text == "reinterpret_cast" &&
                !castsToFloatFamily(tokens, index, hasSixteenBits))
                return std::unexpected(unsupported("a reinterpret_cast uses the bits of a value"));
        }
        if (std::string replacement = renamed(token); replacement != token.text)
            rewrite(token, replacement);
    }
    result += text.substr(copied);
    return result;
}

} // namespace

Result<std::string> withDoubleArithmetic(std::string_view text) {
    return withDoubleArithmetic(text, namesSixteenBits(text));
}

Result<LaunchSpec> withDoubleArguments(KernelInFile subject, LaunchSpec launch) {
    const auto& [file, kernel] = subject;
    const bool hasSixteenBits = holdsSixteenBits(kernel) ||
                                (file.source != nullptr && namesSixteenBits(file.source->text()));
    for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
        if (auto* buffer = std::get_if<BufferSpec>(&launch.arguments[i])) {
            if (isNarrow(buffer->element)) {
                buffer->elementBytes *= sizeof(double) / analysis::scalarBytes(buffer->element);
                if (buffer->element != ScalarKind::Float)
                    buffer->valuesOf = buffer->element;
                if (buffer->choice)
                    buffer->choice->isFloat = true;
                buffer->element = ScalarKind::Double;
            }
            continue;
        }
        auto& scalar = std::get<ScalarSpec>(launch.arguments[i]);
        const auto numbers = numbersOf(subject, i, scalar, launch.templateArguments);
        if (!numbers)
            return std::unexpected(
                unsupported("the layout of argument " + scalar.name + " is not known"));
        widen(scalar, *numbers);
    }
    for (std::string& argument : launch.templateArguments) {
        auto doubled = withDoubleArithmetic(argument);
        if (!doubled)
            return std::unexpected(doubled.error());
        argument = *doubled;
    }
    bool hasDynamicFloats =
        std::ranges::any_of(kernel.sharedArrays, [&](const analysis::SharedArray& array) {
            return array.isDynamic && array.variable != analysis::noId &&
                   kernel.body.variable(array.variable).type.scalar != ScalarKind::Double;
        });
    if (hasDynamicFloats)
        launch.dynamicSharedBytes *= hasSixteenBits ? 4 : 2;
    return launch;
}

Result<ProgramSource> doublePrecisionProgram(KernelRef kernel,
                                             const analysis::Toolchain& toolchain) {
    bool callsElsewhere =
        kernel.kernel.file != kernel.program.file ||
        std::ranges::any_of(
            kernel.program.model->deviceFunctions, [&](const analysis::KernelModel& function) {
                return function.file != kernel.program.file &&
                       std::ranges::find(kernel.kernel.calls, function.qualifiedName) !=
                           kernel.kernel.calls.end();
            });
    if (callsElsewhere)
        return std::unexpected(unsupported("the kernel computes in a header"));
    if (usesSixteenBitSymbol(kernel.kernel) ||
        std::ranges::any_of(kernel.program.model->deviceFunctions, usesSixteenBitSymbol))
        return std::unexpected(
            unsupported("a variable of 16 bits has no double counterpart with its values"));
    auto text = withDoubleArithmetic(kernel.program.text);
    if (!text)
        return std::unexpected(text.error());
    ProgramSource doubled = kernel.program;
    doubled.text = std::move(*text);
    if (namesSixteenBits(kernel.program.text) || holdsSixteenBits(kernel.kernel))
        doubled.command.definitions.emplace_back("KERNELSKILL_WIDE_HALVES=1");
    auto model = analysis::analyzeFile(kernel.program.file, doubled.text, doubled.command,
                                       toolchain, kernel.program.unsaved);
    if (!model)
        return std::unexpected(model.error());
    doubled.model = std::make_shared<const analysis::FileModel>(std::move(*model));
    if (analysis::kernelNamed(*doubled.model, kernel.kernel.qualifiedName) == nullptr)
        return std::unexpected(
            unsupported("the kernel cannot be found in its double-precision form"));
    return doubled;
}

bool callsFloatFunction(const ProgramSource& doubled) {
    const auto isOwn = [&](std::string_view name) {
        return std::ranges::any_of(doubled.model->deviceFunctions,
                                   [&](const auto& function) { return function.name == name; });
    };
    const auto tokens = analysis::lex(doubled.text);
    for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
        const std::string_view name = tokens[i].text;
        if (tokens[i].kind != TokenKind::Identifier || tokens[i + 1].text != "(")
            continue;
        const bool isOfFloat = (name.ends_with('f') && !name.ends_with("printf") &&
                                std::ranges::find(notOfFloat, name) == notOfFloat.end()) ||
                               name.starts_with("__f") || name.contains("float");
        if (isOfFloat && !isSixteenBitFunction(name) && !isOwn(name))
            return true;
    }
    return false;
}

} // namespace kernelskill::engine
