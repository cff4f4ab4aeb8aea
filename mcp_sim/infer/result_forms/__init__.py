"""In which form does a tool give its results, going by its outputSchema and by what its description says or shows?"""

from mcp_sim.infer.result_forms.declared import form_declared, result_schema, text_place
from mcp_sim.infer.result_forms.shown import shown_result

__all__ = ["form_declared", "result_schema", "shown_result", "text_place"]
