#include "analysis/parse/type_lowering.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace kernelskill::analysis {

namespace {

ScalarKind scalarOfBuiltin(CXTypeKind kind) {
    switch (kind) {
    case CXType_Void:
        return ScalarKind::Void;
    case CXType_Bool:
        return ScalarKind::Bool;
    case CXType_Char_S:
    case CXType_SChar:
        return ScalarKind::Char;
    case CXType_Char_U:
    case CXType_UChar:
        return ScalarKind::UInt8;
    case CXType_Short:
        return ScalarKind::Int16;
    case CXType_UShort:
    case CXType_Char16:
        return ScalarKind::UInt16;
    case CXType_Int:
    case CXType_WChar:
        return ScalarKind::Int32;
    case CXType_UInt:
    case CXType_Char32:
        return ScalarKind::UInt32;
    case CXType_Long:
    case CXType_LongLong:
        return ScalarKind::Int64;
    case CXType_ULong:
    case CXType_ULongLong:
        return ScalarKind::UInt64;
    case CXType_Half:
    case CXType_Float16:
        return ScalarKind::Half;
    case CXType_BFloat16:
        return ScalarKind::BFloat16;
    case CXType_Float:
        return ScalarKind::Float;
    case CXType_Double:
        return ScalarKind::Double;
    default:
        return ScalarKind::Unknown;
    }
}

struct ElementType {
    ScalarKind scalar = ScalarKind::Unknown;
    std::uint8_t lanes = 1;
};

/// Recognises CUDA's vector and 16-bit float classes by name.
ElementType elementOfRecord(std::string_view name) {
    constexpr std::array<std::pair<std::string_view, ElementType>, 8> named = {{
        {"__half", {ScalarKind::Half, 1}},
        {"half", {ScalarKind::Half, 1}},
        {"__half2", {ScalarKind::Half, 2}},
        {"half2", {ScalarKind::Half, 2}},
        {"__nv_bfloat16", {ScalarKind::BFloat16, 1}},
        {"nv_bfloat16", {ScalarKind::BFloat16, 1}},
        {"__nv_bfloat162", {ScalarKind::BFloat16, 2}},
        {"nv_bfloat162", {ScalarKind::BFloat16, 2}},
    }};
    constexpr std::array<std::pair<std::string_view, ScalarKind>, 12> vectors = {{
        {"char", ScalarKind::Char},
        {"uchar", ScalarKind::UInt8},
        {"short", ScalarKind::Int16},
        {"ushort", ScalarKind::UInt16},
        {"int", ScalarKind::Int32},
        {"uint", ScalarKind::UInt32},
        {"long", ScalarKind::Int64},
        {"ulong", ScalarKind::UInt64},
        {"longlong", ScalarKind::Int64},
        {"ulonglong", ScalarKind::UInt64},
        {"float", ScalarKind::Float},
        {"double", ScalarKind::Double},
    }};
    for (const auto& [spelling, element] : named)
        if (name == spelling)
            return element;
    for (const auto& [prefix, scalar] : vectors)
        if (name.size() == prefix.size() + 1 && name.starts_with(prefix) && name.back() >= '1' &&
            name.back() <= '4')
            return {scalar, static_cast<std::uint8_t>(name.back() - '0')};
    return {};
}

std::string_view withoutQualifiers(std::string_view name) {
    for (const std::string_view prefix : {"const ", "volatile ", "struct ", "class "})
        if (name.starts_with(prefix))
            name.remove_prefix(prefix.size());
    return name;
}

std::uint32_t sizeOr0(long long size) {
    return size > 0 && size < 0xffffffffLL ? static_cast<std::uint32_t>(size) : 0;
}

void describeElement(Type& result, CXType element) {
    result.scalar = scalarOfBuiltin(element.kind);
    if (element.kind == CXType_Enum) {
        result.scalar = scalarOfBuiltin(
            clang_getCanonicalType(clang_getEnumDeclIntegerType(clang_getTypeDeclaration(element)))
                .kind);
    } else if (element.kind == CXType_Record) {
        const std::string name = takeString(clang_getTypeSpelling(element));
        const auto [scalar, lanes] = elementOfRecord(withoutQualifiers(name));
        result.scalar = scalar;
        result.lanes = lanes;
    }
}

bool isArray(CXTypeKind kind) {
    return kind == CXType_ConstantArray || kind == CXType_IncompleteArray ||
           kind == CXType_VariableArray || kind == CXType_DependentSizedArray;
}

bool holdsOnlyNumbers(CXType type);

CXVisitorResult visitField(CXCursor field, CXClientData onlyNumbers) {
    auto& isPlain = *static_cast<bool*>(onlyNumbers);
    isPlain = holdsOnlyNumbers(clang_getCursorType(field));
    return isPlain ? CXVisit_Continue : CXVisit_Break;
}

CXChildVisitResult visitBase(CXCursor child, CXCursor, CXClientData hasBase) {
    if (clang_getCursorKind(child) != CXCursor_CXXBaseSpecifier)
        return CXChildVisit_Continue;
    *static_cast<bool*>(hasBase) = true;
    return CXChildVisit_Break;
}

/// Classes end somewhere: each field is smaller than what holds it.
bool holdsOnlyNumbers(CXType type) { // NOLINT(misc-no-recursion)
    type = clang_getCanonicalType(type);
    while (isArray(type.kind))
        type = clang_getCanonicalType(clang_getArrayElementType(type));
    if (type.kind == CXType_Enum || scalarOfBuiltin(type.kind) != ScalarKind::Unknown)
        return true;
    if (type.kind != CXType_Record || clang_Type_getSizeOf(type) <= 0)
        return false;
    bool hasBase = false;
    clang_visitChildren(clang_getTypeDeclaration(type), visitBase, &hasBase);
    bool isPlain = !hasBase;
    if (isPlain)
        clang_Type_visitFields(type, visitField, &isPlain);
    return isPlain;
}

Type lowerAfresh(CXType type) {
    Type result;
    result.spelling = takeString(clang_getTypeSpelling(type));
    // Placeholders such as "<pseudo-object type>" have no layout; asking for it crashes libclang.
    if (result.spelling.starts_with('<') || type.kind == CXType_Invalid) {
        result.isDependent = type.kind == CXType_Dependent;
        result.canonical = result.spelling;
        return result;
    }
    CXType canonical = clang_getCanonicalType(type);
    result.canonical = takeString(clang_getTypeSpelling(canonical));
    if (canonical.kind == CXType_LValueReference || canonical.kind == CXType_RValueReference) {
        result.isReference = true;
        canonical = clang_getCanonicalType(clang_getPointeeType(canonical));
    }
    result.isConst = clang_isConstQualifiedType(canonical) != 0;
    result.isVolatile = clang_isVolatileQualifiedType(canonical) != 0;
    result.isRestrict =
        clang_isRestrictQualifiedType(canonical) != 0 || clang_isRestrictQualifiedType(type) != 0;
    const long long size = clang_Type_getSizeOf(canonical);
    result.isDependent = size == CXTypeLayoutError_Dependent || canonical.kind == CXType_Dependent;
    result.size = sizeOr0(size);
    result.alignment = sizeOr0(clang_Type_getAlignOf(canonical));

    CXType element = canonical;
    while (isArray(element.kind)) {
        result.arrayExtents.push_back(
            element.kind == CXType_ConstantArray ? clang_getArraySize(element) : -1);
        element = clang_getCanonicalType(clang_getArrayElementType(element));
    }
    if (!result.arrayExtents.empty()) {
        result.elementSize = sizeOr0(clang_Type_getSizeOf(element));
        result.isConst = clang_isConstQualifiedType(element) != 0;
        result.isVolatile = clang_isVolatileQualifiedType(element) != 0;
    }
    while (element.kind == CXType_Pointer) {
        element = clang_getCanonicalType(clang_getPointeeType(element));
        constexpr std::uint8_t manyLevels = 255;
        if (result.pointerDepth == manyLevels)
            break;
        if (result.pointerDepth++ == 0) {
            result.pointeeConst = clang_isConstQualifiedType(element) != 0;
            result.isVolatile = result.isVolatile || clang_isVolatileQualifiedType(element) != 0;
            if (result.arrayExtents.empty())
                result.elementSize = sizeOr0(clang_Type_getSizeOf(element));
            result.isDependent =
                result.isDependent || clang_Type_getSizeOf(element) == CXTypeLayoutError_Dependent;
        }
    }
    while (isArray(element.kind))
        element = clang_getCanonicalType(clang_getArrayElementType(element));
    describeElement(result, element);
    result.isPlainClass = element.kind == CXType_Record && result.pointerDepth == 0 &&
                          !result.isReference && holdsOnlyNumbers(element);
    return result;
}

} // namespace

const Type& TypeLowering::lower(CXType type) {
    const auto [entry, isNew] = known_.try_emplace(type.data[0]);
    if (isNew)
        entry->second = lowerAfresh(type);
    return entry->second;
}

} // namespace kernelskill::analysis
