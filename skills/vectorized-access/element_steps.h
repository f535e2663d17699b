/// Steps of values: the difference between a value for one element and for the next.
#pragma once

#include "skills/base/skill.h"

#include <cstdint>
#include <vector>

namespace kernelskill::skills {

/// The difference of a value between threads of neighbouring elements, as far as the text tells.
enum class Step : std::uint8_t {
    None, ///< It is the same for all.
    One,  ///< It goes up by one; a pointer goes on to the next element.
    Other,
};

/// A local that one statement behind its declaration sets or moves on before it is used: `float* to
/// = y; to += i;`.
struct SettledLocal {
    analysis::StmtId statement = analysis::noId; ///< noId: the declaration alone says its value.
    analysis::ExprId value = analysis::noId;     ///< What the statement sets it to, or adds.
    bool isAdded = false;
};

/// The steps of values of one kernel, whose variable `index` numbers the elements. Keeps references
/// to what it is given.
class ElementSteps {
public:
    ElementSteps(const SkillContext& context, analysis::VariableId index);

    /// The step of the value, and of an array that the expression names.
    [[nodiscard]] Step of(analysis::ExprId expr) const;
    /// The step of the address of `p[i]`, `*p` or another place in memory.
    [[nodiscard]] Step ofAddress(analysis::ExprId place) const;
    /// Whether the value is the same for all elements, whatever rows they are in.
    [[nodiscard]] bool isForAll(analysis::ExprId expr) const;
    [[nodiscard]] Step ofVariable(analysis::VariableId id) const { return steps_[id]; }
    /// The expressions that the value of a local is made of where it is used.
    [[nodiscard]] std::vector<analysis::ExprId> definitionsOf(analysis::VariableId id) const;
    [[nodiscard]] const SettledLocal& settled(analysis::VariableId id) const {
        return settled_[id];
    }
    /// The variables that the statement declares or settles.
    [[nodiscard]] std::vector<analysis::VariableId> namedBy(analysis::StmtId statement) const;
    /// Whether the local's value is made of what follows from the index.
    [[nodiscard]] bool followsIndex(analysis::VariableId variable) const {
        return followsIndex_[variable];
    }
    /// Adds the numbers by which the index is divided for the value. What of() says of quotients
    /// and remainders holds for the elements of an aligned group whose size divides all of these.
    void addRowLengths(analysis::ExprId expr, std::vector<analysis::ExprId>& lengths) const;

private:
    [[nodiscard]] SettledLocal settledLocal(analysis::VariableId id) const;
    void readVariable(analysis::VariableId id);
    [[nodiscard]] Step stepOf(analysis::VariableId id) const;
    [[nodiscard]] Step ofOperation(const analysis::Expr& operation) const;
    [[nodiscard]] bool areFixed(const analysis::Expr& expr) const;
    [[nodiscard]] bool isQuotientOfIndex(const analysis::Expr& operation) const;

    const SkillContext& context_;
    const analysis::CodeMap& code_;
    const analysis::FunctionBody& body_;
    std::vector<SettledLocal> settled_; ///< For each variable, as those below.
    std::vector<Step> steps_;
    std::vector<bool> isIndex_;
    std::vector<bool> followsIndex_;
};

} // namespace kernelskill::skills
