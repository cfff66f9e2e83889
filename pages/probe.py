"""What changes when this query signals someone else?"""

from biasret import ui

with ui.page(
    "Probe",
    "Type a question, flip the identity it signals, and see, retriever by retriever, which "
    "documents stay, move, disappear or appear.",
):
    setup = ui.probe_setup()
    question = ui.ask_question(setup)
    if question is not None:
        ui.show_probe(setup, question)
