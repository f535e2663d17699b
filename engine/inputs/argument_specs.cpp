#include "engine/inputs/argument_specs.h"

#include "analysis/model/scalar_kinds.h"
#include "engine/inputs/class_layout.h"
#include "engine/inputs/name_guesses.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <cstring>

namespace kernelskill::engine {

using analysis::DeclarationKind;
using analysis::Token;
using analysis::Value;

namespace {

using analysis::ScalarKind;

std::uint16_t halfBits(double value) {
    const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
    const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000u);
    const int exponent = static_cast<int>((bits >> 23) & 0xffu) - 127 + 15;
    if (exponent <= 0)
        return sign;
    if (exponent >= 31)
        return static_cast<std::uint16_t>(sign | 0x7c00u);
    return static_cast<std::uint16_t>(sign | (static_cast<unsigned>(exponent) << 10) |
                                      ((bits >> 13) & 0x3ffu));
}

template <typename T>
void append(std::vector<std::byte>& bytes, T value) {
    const auto at = bytes.size();
    bytes.resize(at + sizeof(T));
    std::memcpy(bytes.data() + at, &value, sizeof(T));
}

void appendScalar(std::vector<std::byte>& bytes, ScalarKind kind, const Value& value) {
    const auto integer = value.asInteger();
    switch (kind) {
    case ScalarKind::Bool:
        append(bytes, static_cast<std::uint8_t>(value.asDouble() != 0 ? 1 : 0));
        break;
    case ScalarKind::Char:
    case ScalarKind::UInt8:
        append(bytes, static_cast<std::uint8_t>(integer));
        break;
    case ScalarKind::Int16:
    case ScalarKind::UInt16:
        append(bytes, static_cast<std::uint16_t>(integer));
        break;
    case ScalarKind::Int64:
    case ScalarKind::UInt64:
        append(bytes, static_cast<std::uint64_t>(integer));
        break;
    case ScalarKind::Half:
        append(bytes, halfBits(value.asDouble()));
        break;
    case ScalarKind::BFloat16:
        append(bytes,
               static_cast<std::uint16_t>(
                   std::bit_cast<std::uint32_t>(static_cast<float>(value.asDouble())) >> 16));
        break;
    case ScalarKind::Float:
        append(bytes, static_cast<float>(value.asDouble()));
        break;
    case ScalarKind::Double:
        append(bytes, value.asDouble());
        break;
    default:
        append(bytes, static_cast<std::uint32_t>(integer));
    }
}

/// The member's type is not in the text, but its name or the type's name says pointer.
bool soundsLikePointer(const ClassField& field) {
    if (scalarKindOf(field.type) != ScalarKind::Unknown)
        return false;
    std::string words = field.name + ' ' + bareTypeName(field.type);
    std::ranges::transform(words, words.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return std::ranges::any_of(std::array{"ptr", "pointer", "iterator"}, [&](const char* part) {
        return words.find(part) != std::string::npos;
    });
}

bool holdsPointer(const ProgramText& program, const std::string& type, int depth = 0) {
    const auto fields = fieldsOf(program, type);
    if (!fields || depth > 4)
        return false;
    return std::ranges::any_of(*fields, [&](const ClassField& field) {
        return field.isPointer || soundsLikePointer(field) ||
               holdsPointer(program, bareTypeName(field.type), depth + 1);
    });
}

/// The max size of all parameters of a kernel together, before CUDA 12.1 and Volta.
constexpr std::size_t maxParameterBytes = 4096;

/// Bytes of a class by value: guessed numbers in the fields whose types are known, zero elsewhere.
/// Too many of them do no harm where the size is not known (0).
std::vector<std::byte> classBytes(const ProgramText& program, const std::string& type,
                                  std::uint32_t size) {
    std::vector<std::byte> bytes;
    if (type == "dim3") {
        for (const std::uint32_t extent : {4u, 1u, 1u}) // zeros would be divided by
            append(bytes, extent);
    }
    for (const ClassNumber& number : layoutOf(program, type).numbers) {
        bytes.resize(number.offset);
        const auto guess = guessFromName(number.name);
        appendScalar(bytes, number.kind,
                     isFloatingScalar(number.kind) ? Value::of(guess.floating)
                                                   : Value::of(guess.integer));
    }
    bytes.resize(size != 0 ? size : maxParameterBytes);
    return bytes;
}

/// The fill for an array of structures: numbers of the kind that most of its fields have.
ScalarKind elementOfClass(const ProgramText& program, const analysis::Parameter& parameter,
                          std::uint32_t bytes) {
    if (bytes % 4 != 0)
        return ScalarKind::UInt8;
    const auto fields = fieldsOf(program, bareTypeName(parameter.type.spelling));
    if (!fields || fields->empty())
        return ScalarKind::Float;
    const auto integers = std::ranges::count_if(*fields, [](const ClassField& field) {
        const auto kind = scalarKindOf(field.type);
        return kind != ScalarKind::Unknown && !isFloatingScalar(kind);
    });
    const bool doubles = std::ranges::all_of(*fields, [](const ClassField& field) {
        return scalarKindOf(field.type) == ScalarKind::Double;
    });
    if (doubles && bytes % 8 == 0)
        return ScalarKind::Double;
    return 2 * integers > std::ssize(*fields) ? ScalarKind::Int32 : ScalarKind::Float;
}

Error refusal(const analysis::FileModel& file, const analysis::KernelModel& kernel,
              const analysis::Parameter& parameter, const std::string& what) {
    std::uint32_t line = 1;
    if (file.source && kernel.file == file.file)
        line = file.source->lineColumn(parameter.span.begin).line + 1;
    return {ErrorKind::Unsupported,
            "parameter '" + parameter.name + "' of kernel '" + kernel.name + "' is " + what,
            kernel.file + ":" + std::to_string(line),
            "profile this kernel within its own program on a GPU"};
}

} // namespace

ScalarKind scalarKindOf(std::string_view type) {
    struct Entry {
        std::string_view name;
        ScalarKind kind;
    };
    static constexpr std::array entries = {Entry{"float", ScalarKind::Float},
                                           Entry{"double", ScalarKind::Double},
                                           Entry{"half", ScalarKind::Half},
                                           Entry{"__half", ScalarKind::Half},
                                           Entry{"__nv_bfloat16", ScalarKind::BFloat16},
                                           Entry{"nv_bfloat16", ScalarKind::BFloat16},
                                           Entry{"bool", ScalarKind::Bool},
                                           Entry{"size_t", ScalarKind::UInt64},
                                           Entry{"int8_t", ScalarKind::Char},
                                           Entry{"uint8_t", ScalarKind::UInt8},
                                           Entry{"uchar", ScalarKind::UInt8},
                                           Entry{"int16_t", ScalarKind::Int16},
                                           Entry{"uint16_t", ScalarKind::UInt16},
                                           Entry{"ushort", ScalarKind::UInt16},
                                           Entry{"int32_t", ScalarKind::Int32},
                                           Entry{"uint32_t", ScalarKind::UInt32},
                                           Entry{"uint", ScalarKind::UInt32},
                                           Entry{"int64_t", ScalarKind::Int64},
                                           Entry{"uint64_t", ScalarKind::UInt64},
                                           Entry{"void", ScalarKind::Void}};
    bool isUnsigned = false;
    bool isLong = false;
    bool isInt = false;
    for (const auto& token : analysis::lex(type)) {
        if (token.is("unsigned"))
            isUnsigned = true;
        else if (token.is("long"))
            isLong = true;
        else if (token.is("int") || token.is("signed"))
            isInt = true;
        else if (token.is("char"))
            return isUnsigned ? ScalarKind::UInt8 : ScalarKind::Char;
        else if (token.is("short"))
            return isUnsigned ? ScalarKind::UInt16 : ScalarKind::Int16;
        else if (const auto found = std::ranges::find(entries, token.text, &Entry::name);
                 found != entries.end())
            return found->kind;
    }
    if (isLong)
        return isUnsigned ? ScalarKind::UInt64 : ScalarKind::Int64;
    if (isUnsigned)
        return ScalarKind::UInt32;
    return isInt ? ScalarKind::Int32 : ScalarKind::Unknown;
}

Result<PassedType> passedType(const ProgramText& program, const analysis::FileModel& file,
                              const analysis::KernelModel& kernel,
                              const analysis::Parameter& parameter,
                              const std::vector<std::string>& templateArguments) {
    const auto& type = parameter.type;
    if (type.canonical.find("(*)") != std::string::npos ||
        type.spelling.find("(*)") != std::string::npos)
        return std::unexpected(refusal(file, kernel, parameter, "a pointer to a function"));
    if (type.pointerDepth > 1)
        return std::unexpected(refusal(file, kernel, parameter, "a pointer to pointers"));
    PassedType result{type.scalar, type.pointerDepth > 0 ? type.elementSize : type.size,
                      type.pointerDepth > 0, bareTypeName(type.spelling)};
    for (std::size_t i = 0; i < kernel.templateParameters.size() && i < templateArguments.size();
         ++i) {
        if (!kernel.templateParameters[i].isType ||
            kernel.templateParameters[i].name != bareTypeName(type.spelling))
            continue;
        const auto& argument = templateArguments[i];
        if (result.isPointer && argument.find('*') != std::string::npos)
            return std::unexpected(refusal(file, kernel, parameter, "a pointer to pointers"));
        result.isPointer = result.isPointer || argument.find('*') != std::string::npos;
        result.scalar = scalarKindOf(argument);
        const auto element = argument.substr(0, argument.find('*'));
        result.bytes = static_cast<std::uint32_t>(analysis::sizeOfBuiltin(element).value_or(0));
        result.name = bareTypeName(element);
    }
    if (result.scalar == ScalarKind::Unknown && result.name.starts_with("cuda") &&
        result.name.ends_with("Object_t"))
        return std::unexpected(refusal(file, kernel, parameter, "a texture or surface"));
    if (result.scalar == ScalarKind::Unknown && holdsPointer(program, result.name))
        return std::unexpected(refusal(file, kernel, parameter,
                                       "a class with pointers inside ('" + result.name + "')"));
    return result;
}

std::vector<std::byte> floatingBytes(ScalarKind kind, double value) {
    std::vector<std::byte> bytes;
    appendScalar(bytes, kind, Value::of(value));
    return bytes;
}

ScalarSpec scalarSpec(const ProgramText& program, const analysis::Parameter& parameter,
                      const PassedType& type, const Value& value) {
    ScalarSpec spec;
    spec.name = parameter.name;
    if (type.scalar == ScalarKind::Unknown) {
        const bool enumeration = type.bytes == 4 && !fieldsOf(program, type.name);
        if (!enumeration) {
            spec.bytes = classBytes(program, type.name, type.bytes);
            return spec;
        }
    }
    const auto lanes = std::max<std::size_t>(parameter.type.lanes, 1);
    for (std::size_t lane = 0; lane < lanes; ++lane)
        appendScalar(spec.bytes, type.scalar, value);
    if (type.bytes > spec.bytes.size())
        spec.bytes.resize(type.bytes); // the padding of float3 and the like
    if (isFloatingScalar(type.scalar))
        spec.floating = value.asDouble();
    else
        spec.integer = value.asInteger();
    return spec;
}

BufferSpec bufferSpec(const ProgramText& program, const analysis::Parameter& parameter,
                      const PassedType& type, const std::optional<KernelText>& text,
                      std::int64_t indexRange) {
    BufferSpec spec;
    spec.name = parameter.name;
    spec.element = type.scalar;
    spec.elementBytes = std::max(type.bytes, 1u);
    if (type.scalar == ScalarKind::Unknown || type.scalar == ScalarKind::Void)
        spec.element = elementOfClass(program, parameter, spec.elementBytes);
    const bool unknownUse = !parameter.isRead && !parameter.isWritten;
    spec.isOutput = (parameter.isWritten || unknownUse) && !parameter.type.pointeeConst;
    spec.isInput = parameter.isRead || unknownUse || parameter.escapes;
    if (type.scalar == ScalarKind::Unknown && spec.element == ScalarKind::Int32)
        spec.integerRange = std::max<std::int64_t>(std::min<std::int64_t>(indexRange, 16), 1);
    const bool integral = spec.element != ScalarKind::Unknown && !isFloatingScalar(spec.element);
    if (!text || !integral)
        return spec;
    if (text->offsetPointers.contains(parameter.name))
        spec.fill = Fill::Iota;
    else if (text->indexPointers.contains(parameter.name))
        spec.integerRange = std::max<std::int64_t>(indexRange, 1);
    return spec;
}

} // namespace kernelskill::engine
