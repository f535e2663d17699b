#include "analysis/model/normalised_hash.h"

#include "analysis/syntax/lexer.h"

#include <map>
#include <string>

namespace kernelskill::analysis {

namespace {

/// FNV-1a. The value is stored in files, so it must not depend on the standard library.
class Fnv {
public:
    void add(std::string_view text) {
        for (const char c : text)
            addByte(static_cast<unsigned char>(c));
        addByte(0);
    }
    [[nodiscard]] std::uint64_t value() const { return value_; }

private:
    void addByte(unsigned char byte) {
        value_ ^= byte;
        value_ *= 0x100000001b3ULL;
    }
    std::uint64_t value_ = 0xcbf29ce484222325ULL;
};

} // namespace

std::uint64_t normalisedHash(const KernelModel& function, std::string_view bodyText) {
    std::map<std::string_view, std::size_t> local;
    for (const Variable& variable : function.body.variables) {
        const bool own = variable.storage == Storage::Local ||
                         variable.storage == Storage::Parameter ||
                         variable.storage == Storage::Shared;
        if (own)
            local.try_emplace(variable.name, local.size());
    }
    Fnv hash;
    for (const Parameter& parameter : function.parameters)
        hash.add(parameter.type.canonical);
    std::string_view previous;
    for (const Token& token : lex(bodyText)) {
        const auto known =
            token.kind == TokenKind::Identifier && previous != "." && previous != "->"
                ? local.find(token.text)
                : local.end();
        if (known != local.end())
            hash.add(std::to_string(known->second).insert(0, 1, '$'));
        else
            hash.add(token.text);
        previous = token.text;
    }
    return hash.value();
}

} // namespace kernelskill::analysis
