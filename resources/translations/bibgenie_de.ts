<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="de" sourcelanguage="en">
<context>
    <name>AboutDialog</name>
    <message>
        <source>About BibGenie</source>
        <translation>Über BibGenie</translation>
    </message>
    <message>
        <source>Talk with a language model over your Zotero library.

Licence: {licence}. You may use, study, share and change it; it comes without warranty.
Made with Qt {qt} and Python {python}.</source>
        <translation>Gespräche mit einem Sprachmodell über die eigene Zotero-Bibliothek.

Lizenz: {licence}. Das Programm darf benutzt, untersucht, weitergegeben und verändert werden; es kommt ohne Gewähr.
Gemacht mit Qt {qt} und Python {python}.</translation>
    </message>
</context>
<context>
    <name>ActionBar</name>
    <message>
        <source>Actions on the message</source>
        <translation>Aktionen zur Nachricht</translation>
    </message>
</context>
<context>
    <name>BranchMap</name>
    <message>
        <source>Branch map</source>
        <translation>Zweigkarte</translation>
    </message>
    <message>
        <source>{count} messages, one after the other</source>
        <translation>{count} Nachrichten, eine nach der anderen</translation>
    </message>
    <message>
        <source>You</source>
        <translation>Frage</translation>
    </message>
    <message>
        <source>Answer</source>
        <translation>Antwort</translation>
    </message>
    <message>
        <source>Checkpoint</source>
        <translation>Zusammenfassung</translation>
    </message>
    <message>
        <source>you are here</source>
        <translation>hier geht es weiter</translation>
    </message>
    <message>
        <source>another branch</source>
        <translation>anderer Zweig</translation>
    </message>
    <message>
        <source>{count} ways on</source>
        <translation>{count} Wege weiter</translation>
    </message>
</context>
<context>
    <name>BranchPanel</name>
    <message>
        <source>Branch map</source>
        <translation>Zweigkarte</translation>
    </message>
    <message>
        <source>Close the branch map</source>
        <translation>Zweigkarte schließen</translation>
    </message>
    <message>
        <source>Nothing was asked in this chat yet.</source>
        <translation>In diesem Chat wurde noch nichts gefragt.</translation>
    </message>
</context>
<context>
    <name>Branches</name>
    <message>
        <source>{count} messages</source>
        <translation>{count} Nachrichten</translation>
    </message>
</context>
<context>
    <name>Branching</name>
    <message>
        <source>There is no message yet.</source>
        <translation>Es gibt noch keine Nachricht.</translation>
    </message>
    <message>
        <source>This chat is damaged and can only be read.</source>
        <translation>Dieser Chat ist beschädigt und kann nur gelesen werden.</translation>
    </message>
    <message>
        <source>Not while earlier context is compacted.</source>
        <translation>Nicht, solange früherer Kontext verdichtet wird.</translation>
    </message>
    <message>
        <source>An answer still streams in this chat: wait for it or stop it.</source>
        <translation>In diesem Chat läuft noch eine Antwort: abwarten oder stoppen.</translation>
    </message>
    <message>
        <source>The engine does not answer yet.</source>
        <translation>Die Engine antwortet noch nicht.</translation>
    </message>
    <message>
        <source>Only the last answer can be continued.</source>
        <translation>Nur die letzte Antwort kann fortgesetzt werden.</translation>
    </message>
    <message>
        <source>This answer is complete: there is nothing to continue.</source>
        <translation>Diese Antwort ist vollständig: es gibt nichts fortzusetzen.</translation>
    </message>
    <message>
        <source>Only questions can be edited.</source>
        <translation>Nur Fragen können bearbeitet werden.</translation>
    </message>
    <message>
        <source>This question is not stored yet.</source>
        <translation>Diese Frage ist noch nicht gespeichert.</translation>
    </message>
    <message>
        <source>There is no other version of this message.</source>
        <translation>Von dieser Nachricht gibt es keine andere Fassung.</translation>
    </message>
    <message>
        <source>This is the first version.</source>
        <translation>Dies ist die erste Fassung.</translation>
    </message>
    <message>
        <source>This is the last version.</source>
        <translation>Dies ist die letzte Fassung.</translation>
    </message>
    <message>
        <source>Nothing is stored yet.</source>
        <translation>Noch ist nichts gespeichert.</translation>
    </message>
    <message>
        <source>Only the last answer can be retried; edit this question instead.</source>
        <translation>Nur die letzte Antwort kann wiederholt werden; stattdessen diese Frage bearbeiten.</translation>
    </message>
    <message>
        <source>Only the last answer can be retried; fork here instead.</source>
        <translation>Nur die letzte Antwort kann wiederholt werden; stattdessen hier abzweigen.</translation>
    </message>
    <message>
        <source>A fork begins at an answer.</source>
        <translation>Abgezweigt wird bei einer Antwort.</translation>
    </message>
    <message>
        <source>This answer still streams: a fork begins at a complete one.</source>
        <translation>Diese Antwort läuft noch: abgezweigt wird bei einer vollständigen.</translation>
    </message>
    <message>
        <source>This answer is not complete: a fork begins at a complete one.</source>
        <translation>Diese Antwort ist nicht vollständig: abgezweigt wird bei einer vollständigen.</translation>
    </message>
    <message>
        <source>The engine does not answer yet: send it once it does.</source>
        <translation>Die Engine antwortet noch nicht: bitte senden, sobald sie es tut.</translation>
    </message>
    <message>
        <source>Untitled chat</source>
        <translation>Chat ohne Titel</translation>
    </message>
    <message>
        <source>This is a fork of “{title}”: that chat stays as it is.</source>
        <translation>Dies ist von „{title}“ abgezweigt: jener Chat bleibt, wie er ist.</translation>
    </message>
    <message>
        <source>This goes on where “{title}” can still be read; that chat stays as it is.</source>
        <translation>Hier geht es weiter, soweit „{title}“ noch lesbar ist; jener Chat bleibt, wie er ist.</translation>
    </message>
</context>
<context>
    <name>Chat</name>
    <message>
        <source>Message {number} of {count}</source>
        <translation>Nachricht {number} von {count}</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>Kopieren</translation>
    </message>
    <message>
        <source>image</source>
        <translation>Bild</translation>
    </message>
    <message>
        <source>view</source>
        <translation>ansehen</translation>
    </message>
    <message>
        <source>What the model sees of earlier messages</source>
        <translation>Was das Modell von früheren Nachrichten sieht</translation>
    </message>
    <message>
        <source>View the checkpoint</source>
        <translation>Die Zusammenfassung ansehen</translation>
    </message>
    <message>
        <source>Earlier context compacted</source>
        <translation>Früherer Kontext verdichtet</translation>
    </message>
    <message>
        <source>You</source>
        <translation>Frage</translation>
    </message>
    <message>
        <source>sending…</source>
        <translation>wird gesendet…</translation>
    </message>
    <message>
        <source>without a model</source>
        <translation>ohne Modell</translation>
    </message>
    <message>
        <source>part of the summary</source>
        <translation>Teil der Zusammenfassung</translation>
    </message>
    <message>
        <source>kept word for word from here</source>
        <translation>ab hier im Wortlaut erhalten</translation>
    </message>
    <message>
        <source>Version {number} of {count}</source>
        <translation>Fassung {number} von {count}</translation>
    </message>
    <message>
        <source>This question has no answer yet.</source>
        <translation>Diese Frage hat noch keine Antwort.</translation>
    </message>
    <message>
        <source>This answer was interrupted when BibGenie ended. What came is kept.</source>
        <translation>Diese Antwort wurde unterbrochen, als BibGenie endete. Was da war, ist erhalten.</translation>
    </message>
    <message>
        <source>You stopped this answer. What came is kept.</source>
        <translation>Diese Antwort wurde gestoppt. Was da war, ist erhalten.</translation>
    </message>
    <message>
        <source>This answer broke off with an error. What came is kept.</source>
        <translation>Diese Antwort brach mit einem Fehler ab. Was da war, ist erhalten.</translation>
    </message>
    <message>
        <source>This answer reached the model's output limit and is cut off.</source>
        <translation>Diese Antwort erreichte die Ausgabegrenze des Modells und ist abgeschnitten.</translation>
    </message>
    <message>
        <source>The provider's filter ended this answer.</source>
        <translation>Der Filter des Anbieters hat diese Antwort beendet.</translation>
    </message>
    <message>
        <source>This answer was ended after too many tool calls.</source>
        <translation>Diese Antwort wurde nach zu vielen Werkzeugaufrufen beendet.</translation>
    </message>
    <message>
        <source>The context was full, so this answer could not be finished.</source>
        <translation>Der Kontext war voll, daher konnte diese Antwort nicht beendet werden.</translation>
    </message>
    <message>
        <source>Continue</source>
        <translation>Fortsetzen</translation>
    </message>
    <message>
        <source>Retry</source>
        <translation>Wiederholen</translation>
    </message>
    <message>
        <source>Answer now</source>
        <translation>Jetzt beantworten</translation>
    </message>
    <message>
        <source>An answer still streams in this chat: wait for it or stop it.</source>
        <translation>In diesem Chat läuft noch eine Antwort: abwarten oder stoppen.</translation>
    </message>
    <message>
        <source>Not while earlier context is compacted.</source>
        <translation>Nicht, solange früherer Kontext verdichtet wird.</translation>
    </message>
    <message>
        <source>This chat is damaged and can only be read: continue in a new chat.</source>
        <translation>Dieser Chat ist beschädigt und kann nur gelesen werden: bitte in einem neuen Chat fortsetzen.</translation>
    </message>
    <message>
        <source>The question is empty: write one.</source>
        <translation>Es steht noch keine Frage da: bitte eine schreiben.</translation>
    </message>
    <message>
        <source>Change the question first; to ask it again as it is, retry the answer.</source>
        <translation>Bitte zuerst die Frage ändern; um sie unverändert noch einmal zu stellen, die Antwort wiederholen.</translation>
    </message>
    <message>
        <source>offline assistant</source>
        <translation>Offline-Assistent</translation>
    </message>
    <message>
        <source>Answer</source>
        <translation>Antwort</translation>
    </message>
    <message>
        <source>Question</source>
        <translation>Frage</translation>
    </message>
    <message>
        <source>Details</source>
        <translation>Einzelheiten</translation>
    </message>
    <message>
        <source>Thinking…</source>
        <translation>Denkt nach…</translation>
    </message>
    <message>
        <source>Thought</source>
        <translation>Nachgedacht</translation>
    </message>
    <message>
        <source>stopped</source>
        <translation>gestoppt</translation>
    </message>
    <message>
        <source>not allowed</source>
        <translation>nicht erlaubt</translation>
    </message>
    <message>
        <source>failed</source>
        <translation>fehlgeschlagen</translation>
    </message>
    <message>
        <source>{seconds} s</source>
        <translation>{seconds} s</translation>
    </message>
    <message>
        <source>Verified: “{quote}”</source>
        <translation>Bestätigt: „{quote}“</translation>
    </message>
    <message>
        <source>Verified.</source>
        <translation>Bestätigt.</translation>
    </message>
    <message>
        <source>Wrong: {reason}.</source>
        <translation>Falsch: {reason}.</translation>
    </message>
    <message>
        <source>Not verified: {reason}.</source>
        <translation>Nicht bestätigt: {reason}.</translation>
    </message>
    <message>
        <source>{count} verified</source>
        <translation>{count} bestätigt</translation>
    </message>
    <message>
        <source>{count} unverified</source>
        <translation>{count} nicht bestätigt</translation>
    </message>
    <message>
        <source>{count} wrong</source>
        <translation>{count} falsch</translation>
    </message>
    <message>
        <source>citations: {counts}</source>
        <translation>Zitationen: {counts}</translation>
    </message>
</context>
<context>
    <name>Checkpoint</name>
    <message>
        <source>Nothing.</source>
        <translation>Nichts.</translation>
    </message>
    <message>
        <source>Both summaries say the same.</source>
        <translation>Beide Zusammenfassungen sagen dasselbe.</translation>
    </message>
</context>
<context>
    <name>CheckpointInspector</name>
    <message>
        <source>Checkpoint</source>
        <translation>Prüfpunkt</translation>
    </message>
    <message>
        <source>The summary</source>
        <translation>Die Zusammenfassung</translation>
    </message>
    <message>
        <source>The questions it stands for</source>
        <translation>Die Fragen, für die sie steht</translation>
    </message>
    <message>
        <source>What is different from the one before</source>
        <translation>Was anders ist als in der vorigen</translation>
    </message>
    <message>
        <source>Summary</source>
        <translation>Zusammenfassung</translation>
    </message>
    <message>
        <source>What it replaced</source>
        <translation>Was sie ersetzt</translation>
    </message>
    <message>
        <source>Difference</source>
        <translation>Unterschied</translation>
    </message>
    <message>
        <source>Where it comes from</source>
        <translation>Woher sie kommt</translation>
    </message>
    <message>
        <source>Rebuild from the sources</source>
        <translation>Aus den Quellen neu aufbauen</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <source>What the model sees of earlier messages</source>
        <translation>Was das Modell von früheren Nachrichten sieht</translation>
    </message>
    <message>
        <source>Reading…</source>
        <translation>Wird gelesen…</translation>
    </message>
    <message>
        <source>The checkpoint is not read yet.</source>
        <translation>Die Zusammenfassung ist noch nicht gelesen.</translation>
    </message>
    <message>
        <source>Write the summary anew from the stored messages, not from the summary before it</source>
        <translation>Die Zusammenfassung neu aus den gespeicherten Nachrichten schreiben, nicht aus der vorigen Zusammenfassung</translation>
    </message>
    <message>
        <source>What it replaced ({count})</source>
        <translation>Was sie ersetzt ({count})</translation>
    </message>
    <message>
        <source>This is the first checkpoint on its branch: there is none before it.</source>
        <translation>Dies ist die erste Zusammenfassung auf ihrem Zweig: Vor ihr gibt es keine.</translation>
    </message>
    <message>
        <source>{tokens} tokens</source>
        <translation>{tokens} Token</translation>
    </message>
    <message>
        <source>not known</source>
        <translation>nicht bekannt</translation>
    </message>
    <message>
        <source>How it came to be</source>
        <translation>Wie sie entstand</translation>
    </message>
    <message>
        <source>Why</source>
        <translation>Warum</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>Modell</translation>
    </message>
    <message>
        <source>none</source>
        <translation>keines</translation>
    </message>
    <message>
        <source>Version of the prompt</source>
        <translation>Fassung der Anweisung</translation>
    </message>
    <message>
        <source>Generation</source>
        <translation>Generation</translation>
    </message>
    <message>
        <source>Tokens of the context</source>
        <translation>Token des Kontexts</translation>
    </message>
    <message>
        <source>Took</source>
        <translation>Dauer</translation>
    </message>
    <message>
        <source>{seconds} s</source>
        <translation>{seconds} s</translation>
    </message>
    <message>
        <source>Cost</source>
        <translation>Kosten</translation>
    </message>
    <message>
        <source>Checks</source>
        <translation>Prüfungen</translation>
    </message>
    <message>
        <source>Summarised by a model</source>
        <translation>Von einem Modell zusammengefasst</translation>
    </message>
    <message>
        <source>Carried over unchanged</source>
        <translation>Unverändert übernommen</translation>
    </message>
    <message>
        <source>Rebuilt from the stored messages</source>
        <translation>Aus den gespeicherten Nachrichten neu aufgebaut</translation>
    </message>
    <message>
        <source>Taken over from another branch</source>
        <translation>Von einem anderen Zweig übernommen</translation>
    </message>
    <message>
        <source>Put together without a model</source>
        <translation>Ohne Modell zusammengestellt</translation>
    </message>
    <message>
        <source>Changed by a person</source>
        <translation>Von einem Menschen geändert</translation>
    </message>
    <message>
        <source>You asked for it</source>
        <translation>Auf Wunsch</translation>
    </message>
    <message>
        <source>By itself, after an answer</source>
        <translation>Von selbst, nach einer Antwort</translation>
    </message>
    <message>
        <source>By itself, to make room for a question</source>
        <translation>Von selbst, um Platz für eine Frage zu schaffen</translation>
    </message>
</context>
<context>
    <name>Compacting</name>
    <message>
        <source>Earlier context is being compacted already.</source>
        <translation>Früherer Kontext wird bereits verdichtet.</translation>
    </message>
    <message>
        <source>This chat is damaged and can only be read.</source>
        <translation>Dieser Chat ist beschädigt und kann nur gelesen werden.</translation>
    </message>
    <message>
        <source>An answer still streams in this chat: wait for it or stop it.</source>
        <translation>In diesem Chat läuft noch eine Antwort: abwarten oder stoppen.</translation>
    </message>
    <message>
        <source>There is nothing to compact yet.</source>
        <translation>Noch gibt es nichts zu verdichten.</translation>
    </message>
    <message>
        <source>The engine does not answer yet.</source>
        <translation>Die Engine antwortet noch nicht.</translation>
    </message>
    <message>
        <source>One question waits already: take it back to change it.</source>
        <translation>Eine Frage wartet schon: zum Ändern bitte zurückholen.</translation>
    </message>
    <message>
        <source>The engine ended while earlier context was compacted; the chat is shown as it is stored.</source>
        <translation>Die Engine endete, während früherer Kontext verdichtet wurde; der Chat wird so gezeigt, wie er gespeichert ist.</translation>
    </message>
    <message>
        <source>Your question was not sent.</source>
        <translation>Die Frage wurde nicht gesendet.</translation>
    </message>
</context>
<context>
    <name>CompactionActions</name>
    <message>
        <source>Sum up earlier messages, so that there is room for more</source>
        <translation>Frühere Nachrichten zusammenfassen, damit Platz für mehr ist</translation>
    </message>
    <message>
        <source>Not while earlier context is compacted.</source>
        <translation>Nicht, solange früherer Kontext verdichtet wird.</translation>
    </message>
    <message>
        <source>The engine does not answer yet.</source>
        <translation>Die Engine antwortet noch nicht.</translation>
    </message>
</context>
<context>
    <name>CompactionBanner</name>
    <message>
        <source>Compacting earlier context…</source>
        <translation>Früherer Kontext wird verdichtet…</translation>
    </message>
    <message>
        <source>Cancel compacting; the chat stays as it is (Esc)</source>
        <translation>Das Verdichten abbrechen; der Chat bleibt, wie er ist (Esc)</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>Cancelling…</source>
        <translation>Wird abgebrochen…</translation>
    </message>
    <message>
        <source>piece {number} of {count}</source>
        <translation>Stück {number} von {count}</translation>
    </message>
    <message>
        <source>checking</source>
        <translation>wird geprüft</translation>
    </message>
    <message>
        <source>writing it a second time</source>
        <translation>wird ein zweites Mal geschrieben</translation>
    </message>
    <message>
        <source>storing</source>
        <translation>wird gespeichert</translation>
    </message>
</context>
<context>
    <name>Composer</name>
    <message>
        <source>Question</source>
        <translation>Frage</translation>
    </message>
    <message>
        <source>Ask a question about your library</source>
        <translation>Frage zur Bibliothek stellen</translation>
    </message>
</context>
<context>
    <name>ComposerPanel</name>
    <message>
        <source>Send</source>
        <translation>Senden</translation>
    </message>
    <message>
        <source>Send the question (Enter)</source>
        <translation>Frage senden (Enter)</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>Stoppen</translation>
    </message>
    <message>
        <source>Stop the answer (Esc)</source>
        <translation>Antwort stoppen (Esc)</translation>
    </message>
    <message>
        <source>Enter sends, Shift+Enter begins a new line</source>
        <translation>Enter sendet, Umschalt+Enter beginnt eine neue Zeile</translation>
    </message>
    <message>
        <source>Enter lets it wait for the end of this answer</source>
        <translation>Enter lässt die Frage bis zum Ende dieser Antwort warten</translation>
    </message>
    <message>
        <source>Enter lets it wait until the context is compacted</source>
        <translation>Enter lässt die Frage warten, bis der Kontext verdichtet ist</translation>
    </message>
</context>
<context>
    <name>ContextMeter</name>
    <message>
        <source>How full the context is, is not known yet</source>
        <translation>Wie voll der Kontext ist, ist noch nicht bekannt</translation>
    </message>
    <message>
        <source>{percent} %</source>
        <translation>{percent} %</translation>
    </message>
    <message>
        <source>Context: {percent} % full</source>
        <translation>Kontext: zu {percent} % voll</translation>
    </message>
    <message>
        <source>estimated</source>
        <translation>geschätzt</translation>
    </message>
    <message>
        <source>counted by the provider</source>
        <translation>vom Anbieter gezählt</translation>
    </message>
    <message>
        <source>{tokens} of {limit} tokens that {model} is sent at most, {counted}</source>
        <translation>{tokens} von {limit} Token, die {model} höchstens gesendet werden, {counted}</translation>
    </message>
</context>
<context>
    <name>ContextPopover</name>
    <message>
        <source>What the context is full of</source>
        <translation>Wovon der Kontext voll ist</translation>
    </message>
    <message>
        <source>Compact now</source>
        <translation>Jetzt verdichten</translation>
    </message>
    <message>
        <source>How full the context is, is not known yet.</source>
        <translation>Wie voll der Kontext ist, ist noch nicht bekannt.</translation>
    </message>
    <message>
        <source>The context is {percent} % full</source>
        <translation>Der Kontext ist zu {percent} % voll</translation>
    </message>
    <message>
        <source>{tokens} of {limit} tokens, estimated</source>
        <translation>{tokens} von {limit} Token, geschätzt</translation>
    </message>
    <message>
        <source>{tokens} of {limit} tokens, counted by the provider</source>
        <translation>{tokens} von {limit} Token, vom Anbieter gezählt</translation>
    </message>
    <message>
        <source>Compaction begins by itself at {tokens}, the line in the bar.</source>
        <translation>Verdichtet wird von selbst ab {tokens}, dem Strich im Balken.</translation>
    </message>
    <message>
        <source>How much {model} takes is not known: a window of {tokens} tokens is assumed.</source>
        <translation>Wie viel {model} fasst, ist nicht bekannt: Angenommen wird ein Fenster von {tokens} Token.</translation>
    </message>
    <message>
        <source>The provider refused {tokens} tokens before: less than that is sent.</source>
        <translation>Der Anbieter hat schon einmal {tokens} Token abgelehnt: Gesendet wird weniger.</translation>
    </message>
    <message>
        <source>{tokens} tokens were last read from the provider's cache.</source>
        <translation>{tokens} Token wurden zuletzt aus dem Zwischenspeicher des Anbieters gelesen.</translation>
    </message>
    <message>
        <source>Instructions</source>
        <translation>Anweisungen</translation>
    </message>
    <message>
        <source>Tools</source>
        <translation>Werkzeuge</translation>
    </message>
    <message>
        <source>Summary of earlier context</source>
        <translation>Zusammenfassung des früheren Kontexts</translation>
    </message>
    <message>
        <source>Messages, word for word</source>
        <translation>Nachrichten im Wortlaut</translation>
    </message>
    <message>
        <source>Draft</source>
        <translation>Entwurf</translation>
    </message>
    <message>
        <source>Free</source>
        <translation>Frei</translation>
    </message>
    <message>
        <source>Kept free for the answer</source>
        <translation>Für die Antwort freigehalten</translation>
    </message>
</context>
<context>
    <name>Controller</name>
    <message>
        <source>Not while earlier context is compacted.</source>
        <translation>Nicht, solange früherer Kontext verdichtet wird.</translation>
    </message>
    <message>
        <source>The question is empty: write one.</source>
        <translation>Es steht noch keine Frage da: bitte eine schreiben.</translation>
    </message>
    <message>
        <source>This chat is damaged and can only be read; your question stays here.</source>
        <translation>Dieser Chat ist beschädigt und kann nur gelesen werden; die Frage bleibt hier stehen.</translation>
    </message>
    <message>
        <source>No more questions can wait: change one of those that do, or remove it.</source>
        <translation>Mehr Fragen können nicht warten: bitte eine der wartenden ändern oder entfernen.</translation>
    </message>
    <message>
        <source>This chat was deleted in another window. What you were writing is kept in a new chat.</source>
        <translation>Dieser Chat wurde in einem anderen Fenster gelöscht. Der angefangene Text steht in einem neuen Chat.</translation>
    </message>
</context>
<context>
    <name>EditBox</name>
    <message>
        <source>Edit the question</source>
        <translation>Frage bearbeiten</translation>
    </message>
</context>
<context>
    <name>EditPanel</name>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>Leave the question as it is (Esc); what you wrote here is kept</source>
        <translation>Die Frage lassen, wie sie ist (Esc); was hier geschrieben wurde, bleibt erhalten</translation>
    </message>
    <message>
        <source>Send</source>
        <translation>Senden</translation>
    </message>
    <message>
        <source>sending…</source>
        <translation>wird gesendet…</translation>
    </message>
    <message>
        <source>Send the question (Enter); the former one stays reachable</source>
        <translation>Die Frage senden (Enter); die vorige bleibt erreichbar</translation>
    </message>
</context>
<context>
    <name>EmptyPage</name>
    <message>
        <source>Ask your library</source>
        <translation>Die eigene Bibliothek fragen</translation>
    </message>
    <message>
        <source>Answers quote your works and cite the printed page. Each citation is checked: ✓ the words stand there, ? it could not be told, ✗ they do not.</source>
        <translation>Antworten zitieren die eigenen Werke mit der gedruckten Seite. Jede Zitation wird geprüft: ✓ die Worte stehen dort, ? es war nicht festzustellen, ✗ sie stehen nicht dort.</translation>
    </message>
    <message>
        <source>Which works in my library disagree with each other, and where?</source>
        <translation>Welche Werke in meiner Bibliothek widersprechen einander, und wo?</translation>
    </message>
    <message>
        <source>Which methods do the works of the last five years use?</source>
        <translation>Welche Methoden verwenden die Werke der letzten fünf Jahre?</translation>
    </message>
    <message>
        <source>Which terms are defined differently from work to work?</source>
        <translation>Welche Begriffe werden von Werk zu Werk verschieden definiert?</translation>
    </message>
</context>
<context>
    <name>Exchange</name>
    <message>
        <source>Markdown (*.md)</source>
        <translation>Markdown (*.md)</translation>
    </message>
    <message>
        <source>Web page (*.html)</source>
        <translation>Webseite (*.html)</translation>
    </message>
    <message>
        <source>JSON, which can be imported (*.json)</source>
        <translation>JSON, das importiert werden kann (*.json)</translation>
    </message>
    <message>
        <source>Export chat</source>
        <translation>Chat exportieren</translation>
    </message>
    <message>
        <source>Untitled chat</source>
        <translation>Chat ohne Titel</translation>
    </message>
    <message>
        <source>Import chat</source>
        <translation>Chat importieren</translation>
    </message>
    <message>
        <source>Exported chats (*.json)</source>
        <translation>Exportierte Chats (*.json)</translation>
    </message>
    <message>
        <source>All files (*)</source>
        <translation>Alle Dateien (*)</translation>
    </message>
    <message>
        <source>The chat is written to {name}.</source>
        <translation>Der Chat steht in {name}.</translation>
    </message>
    <message>
        <source>Exporting…</source>
        <translation>Wird exportiert…</translation>
    </message>
    <message>
        <source>Importing…</source>
        <translation>Wird importiert…</translation>
    </message>
    <message>
        <source>The chat is imported.</source>
        <translation>Der Chat ist importiert.</translation>
    </message>
    <message>
        <source>The engine does not answer at the moment: no file was touched. Try again later.</source>
        <translation>Die Engine antwortet im Moment nicht: keine Datei wurde angerührt. Bitte später noch einmal versuchen.</translation>
    </message>
</context>
<context>
    <name>FindBar</name>
    <message>
        <source>Find in this chat</source>
        <translation>In diesem Chat suchen</translation>
    </message>
    <message>
        <source>Previous place (Shift+Enter)</source>
        <translation>Vorherige Fundstelle (Umschalt+Enter)</translation>
    </message>
    <message>
        <source>Next place (Enter)</source>
        <translation>Nächste Fundstelle (Enter)</translation>
    </message>
    <message>
        <source>Close (Esc)</source>
        <translation>Schließen (Esc)</translation>
    </message>
    <message>
        <source>Not found in this chat</source>
        <translation>In diesem Chat nicht gefunden</translation>
    </message>
    <message>
        <source>Searching older messages…</source>
        <translation>Ältere Nachrichten werden durchsucht…</translation>
    </message>
</context>
<context>
    <name>HistoryList</name>
    <message>
        <source>Found in messages</source>
        <translation>In Nachrichten gefunden</translation>
    </message>
</context>
<context>
    <name>HistoryModel</name>
    <message>
        <source>Untitled chat</source>
        <translation>Chat ohne Titel</translation>
    </message>
    <message>
        <source>You</source>
        <translation>Frage</translation>
    </message>
    <message>
        <source>Answer</source>
        <translation>Antwort</translation>
    </message>
    <message>
        <source>Summary</source>
        <translation>Zusammenfassung</translation>
    </message>
    <message>
        <source>other version</source>
        <translation>andere Fassung</translation>
    </message>
    <message>
        <source>archived</source>
        <translation>archiviert</translation>
    </message>
</context>
<context>
    <name>HistorySearch</name>
    <message>
        <source>The engine ended: the messages are searched once it answers again.</source>
        <translation>Die Engine endete: die Nachrichten werden durchsucht, sobald sie wieder antwortet.</translation>
    </message>
</context>
<context>
    <name>JumpButton</name>
    <message>
        <source>Jump to newest</source>
        <translation>Zur neuesten Nachricht</translation>
    </message>
    <message>
        <source>Go to the newest message and follow the answer (End)</source>
        <translation>Zur neuesten Nachricht gehen und der Antwort folgen (Ende)</translation>
    </message>
</context>
<context>
    <name>Keeping</name>
    <message>
        <source>An answer still streams in this chat: stop it before you delete the chat.</source>
        <translation>In diesem Chat läuft noch eine Antwort: vor dem Löschen bitte stoppen.</translation>
    </message>
    <message>
        <source>Earlier context is compacted in this chat: cancel that before you delete the chat.</source>
        <translation>In diesem Chat wird früherer Kontext verdichtet: bitte abbrechen, bevor der Chat gelöscht wird.</translation>
    </message>
    <message>
        <source>The engine does not answer at the moment: nothing was changed. Try again later.</source>
        <translation>Die Engine antwortet im Moment nicht: nichts wurde geändert. Bitte später noch einmal versuchen.</translation>
    </message>
</context>
<context>
    <name>KeepingBar</name>
    <message>
        <source>Delete</source>
        <translation>Löschen</translation>
    </message>
    <message>
        <source>Keep</source>
        <translation>Behalten</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>Rückgängig</translation>
    </message>
    <message>
        <source>Untitled chat</source>
        <translation>Chat ohne Titel</translation>
    </message>
    <message>
        <source>Delete “{title}” for good?</source>
        <translation>„{title}“ endgültig löschen?</translation>
    </message>
    <message>
        <source>Deleted “{title}”.</source>
        <translation>„{title}“ ist gelöscht.</translation>
    </message>
</context>
<context>
    <name>LinkDialog</name>
    <message>
        <source>Open a web page?</source>
        <translation>Webseite öffnen?</translation>
    </message>
    <message>
        <source>Open this page in your browser?</source>
        <translation>Diese Seite im Browser öffnen?</translation>
    </message>
    <message>
        <source>Address</source>
        <translation>Adresse</translation>
    </message>
    <message>
        <source>Open</source>
        <translation>Öffnen</translation>
    </message>
    <message>
        <source>Copy link</source>
        <translation>Link kopieren</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>This name holds letters that can look like others; it is shown in its encoded form.</source>
        <translation>Dieser Name enthält Buchstaben, die wie andere aussehen können; er ist in seiner kodierten Form zu sehen.</translation>
    </message>
    <message>
        <source>The page is fetched without encryption.</source>
        <translation>Die Seite wird unverschlüsselt geladen.</translation>
    </message>
</context>
<context>
    <name>LinkRouter</name>
    <message>
        <source>Links of this kind are not opened, because they could do harm.</source>
        <translation>Links dieser Art werden nicht geöffnet, weil sie schaden könnten.</translation>
    </message>
    <message>
        <source>This address hides its host behind another name and was not opened.</source>
        <translation>Diese Adresse verbirgt ihren Rechner hinter einem anderen Namen und wurde nicht geöffnet.</translation>
    </message>
    <message>
        <source>Web pages are not opened from here; the link can be copied: {link}</source>
        <translation>Webseiten werden von hier nicht geöffnet; der Link lässt sich kopieren: {link}</translation>
    </message>
    <message>
        <source>Opens {host} in your browser: {link}</source>
        <translation>Öffnet {host} im Browser: {link}</translation>
    </message>
    <message>
        <source>Zotero has no such link, so it was not opened.</source>
        <translation>Einen solchen Link hat Zotero nicht; er wurde nicht geöffnet.</translation>
    </message>
    <message>
        <source>Opens in Zotero: {link}</source>
        <translation>Öffnet in Zotero: {link}</translation>
    </message>
    <message>
        <source>Opens page {page} of the file in your viewer · {key}click: in Zotero</source>
        <translation>Öffnet Seite {page} der Datei im Betrachter · {key}Klick: in Zotero</translation>
    </message>
    <message>
        <source>Opens the file in your viewer · {key}click: in Zotero</source>
        <translation>Öffnet die Datei im Betrachter · {key}Klick: in Zotero</translation>
    </message>
    <message>
        <source>This link is not well formed and was not opened.</source>
        <translation>Dieser Link ist nicht wohlgeformt und wurde nicht geöffnet.</translation>
    </message>
    <message>
        <source>Zotero did not take the link: install Zotero, or copy the link.</source>
        <translation>Zotero hat den Link nicht angenommen: Zotero installieren oder den Link kopieren.</translation>
    </message>
    <message>
        <source>No browser took the address: copy the link, and paste it into one.</source>
        <translation>Kein Browser hat die Adresse angenommen: den Link kopieren und in einen Browser einfügen.</translation>
    </message>
    <message>
        <source>Opened in your browser: {link}</source>
        <translation>Im Browser geöffnet: {link}</translation>
    </message>
</context>
<context>
    <name>MainWindow</name>
    <message>
        <source>The message is copied.</source>
        <translation>Die Nachricht ist kopiert.</translation>
    </message>
    <message>
        <source>Untitled chat</source>
        <translation>Chat ohne Titel</translation>
    </message>
    <message>
        <source>New chat</source>
        <translation>Neuer Chat</translation>
    </message>
</context>
<context>
    <name>Menu</name>
    <message>
        <source>&amp;New chat</source>
        <translation>&amp;Neuer Chat</translation>
    </message>
    <message>
        <source>&amp;Rename chat</source>
        <translation>Chat &amp;umbenennen</translation>
    </message>
    <message>
        <source>&amp;Pin chat</source>
        <translation>Chat an&amp;heften</translation>
    </message>
    <message>
        <source>&amp;Archive chat</source>
        <translation>Chat &amp;archivieren</translation>
    </message>
    <message>
        <source>&amp;Delete chat…</source>
        <translation>Chat &amp;löschen…</translation>
    </message>
    <message>
        <source>Del</source>
        <translation>Entf</translation>
    </message>
    <message>
        <source>&amp;Undo deleting</source>
        <translation>Löschen &amp;rückgängig machen</translation>
    </message>
    <message>
        <source>This &amp;branch…</source>
        <translation>Diesen &amp;Zweig…</translation>
    </message>
    <message>
        <source>The whole &amp;tree…</source>
        <translation>Den ganzen &amp;Baum…</translation>
    </message>
    <message>
        <source>&amp;Import chat…</source>
        <translation>Chat &amp;importieren…</translation>
    </message>
    <message>
        <source>&amp;Quit</source>
        <translation>&amp;Beenden</translation>
    </message>
    <message>
        <source>&amp;Undo</source>
        <translation>&amp;Rückgängig</translation>
    </message>
    <message>
        <source>&amp;Redo</source>
        <translation>&amp;Wiederherstellen</translation>
    </message>
    <message>
        <source>Cu&amp;t</source>
        <translation>&amp;Ausschneiden</translation>
    </message>
    <message>
        <source>&amp;Copy</source>
        <translation>&amp;Kopieren</translation>
    </message>
    <message>
        <source>&amp;Paste</source>
        <translation>&amp;Einfügen</translation>
    </message>
    <message>
        <source>Select &amp;all</source>
        <translation>A&amp;lles auswählen</translation>
    </message>
    <message>
        <source>&amp;Find in this chat</source>
        <translation>In diesem Chat &amp;suchen</translation>
    </message>
    <message>
        <source>Find &amp;next</source>
        <translation>&amp;Nächste Fundstelle</translation>
    </message>
    <message>
        <source>Find pre&amp;vious</source>
        <translation>&amp;Vorherige Fundstelle</translation>
    </message>
    <message>
        <source>&amp;Send</source>
        <translation>&amp;Senden</translation>
    </message>
    <message>
        <source>Enter</source>
        <translation>Enter</translation>
    </message>
    <message>
        <source>S&amp;top</source>
        <translation>S&amp;toppen</translation>
    </message>
    <message>
        <source>Copy &amp;message</source>
        <translation>Nachricht &amp;kopieren</translation>
    </message>
    <message>
        <source>&amp;Retry the answer</source>
        <translation>Antwort &amp;wiederholen</translation>
    </message>
    <message>
        <source>&amp;Edit the question</source>
        <translation>Frage &amp;bearbeiten</translation>
    </message>
    <message>
        <source>&amp;Fork a new chat here</source>
        <translation>Hier einen neuen Chat &amp;abzweigen</translation>
    </message>
    <message>
        <source>&amp;Continue the answer</source>
        <translation>Antwort &amp;fortsetzen</translation>
    </message>
    <message>
        <source>&amp;Previous version</source>
        <translation>V&amp;orige Fassung</translation>
    </message>
    <message>
        <source>Ne&amp;xt version</source>
        <translation>Nä&amp;chste Fassung</translation>
    </message>
    <message>
        <source>Compact e&amp;arlier context</source>
        <translation>Früheren Kontext ver&amp;dichten</translation>
    </message>
    <message>
        <source>Sho&amp;w how full the context is</source>
        <translation>Z&amp;eigen, wie voll der Kontext ist</translation>
    </message>
    <message>
        <source>&amp;View the newest checkpoint</source>
        <translation>D&amp;ie neueste Zusammenfassung ansehen</translation>
    </message>
    <message>
        <source>&amp;Last question again</source>
        <translation>&amp;Letzte Frage noch einmal</translation>
    </message>
    <message>
        <source>Go to the &amp;newest message</source>
        <translation>Zur &amp;neuesten Nachricht</translation>
    </message>
    <message>
        <source>&amp;Chats at the side</source>
        <translation>&amp;Chats an der Seite</translation>
    </message>
    <message>
        <source>&amp;Search chats</source>
        <translation>Chats &amp;suchen</translation>
    </message>
    <message>
        <source>Branch &amp;map</source>
        <translation>Zweig&amp;karte</translation>
    </message>
    <message>
        <source>&amp;Write a question</source>
        <translation>&amp;Frage schreiben</translation>
    </message>
    <message>
        <source>&amp;Keyboard shortcuts</source>
        <translation>&amp;Tastenkürzel</translation>
    </message>
    <message>
        <source>&amp;About BibGenie</source>
        <translation>&amp;Über BibGenie</translation>
    </message>
    <message>
        <source>Map</source>
        <translation>Karte</translation>
    </message>
    <message>
        <source>Compact</source>
        <translation>Verdichten</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>Kopieren</translation>
    </message>
    <message>
        <source>Copy this message as Markdown</source>
        <translation>Diese Nachricht als Markdown kopieren</translation>
    </message>
    <message>
        <source>Retry</source>
        <translation>Wiederholen</translation>
    </message>
    <message>
        <source>Answer this question anew; this answer is kept</source>
        <translation>Die Frage neu beantworten; diese Antwort bleibt erhalten</translation>
    </message>
    <message>
        <source>Edit</source>
        <translation>Bearbeiten</translation>
    </message>
    <message>
        <source>Ask this question in another way</source>
        <translation>Diese Frage anders stellen</translation>
    </message>
    <message>
        <source>Fork</source>
        <translation>Abzweigen</translation>
    </message>
    <message>
        <source>Begin a new chat that goes on from here</source>
        <translation>Einen neuen Chat beginnen, der von hier aus weitergeht</translation>
    </message>
    <message>
        <source>Continue</source>
        <translation>Fortsetzen</translation>
    </message>
    <message>
        <source>Go on with this answer where it ends</source>
        <translation>Diese Antwort dort fortsetzen, wo sie endet</translation>
    </message>
    <message>
        <source>E&amp;xport chat</source>
        <translation>Chat e&amp;xportieren</translation>
    </message>
    <message>
        <source>&amp;File</source>
        <translation>&amp;Datei</translation>
    </message>
    <message>
        <source>&amp;Edit</source>
        <translation>&amp;Bearbeiten</translation>
    </message>
    <message>
        <source>&amp;Chat</source>
        <translation>&amp;Chat</translation>
    </message>
    <message>
        <source>&amp;View</source>
        <translation>&amp;Ansicht</translation>
    </message>
    <message>
        <source>&amp;Help</source>
        <translation>&amp;Hilfe</translation>
    </message>
</context>
<context>
    <name>MessageList</name>
    <message>
        <source>Conversation</source>
        <translation>Gespräch</translation>
    </message>
</context>
<context>
    <name>ModelDialog</name>
    <message>
        <source>Another model</source>
        <translation>Anderes Modell</translation>
    </message>
    <message>
        <source>The name as litellm writes it: the provider, a slash, the model, for example anthropic/…, openai/… or ollama/…. Its key is read from the environment.</source>
        <translation>Der Name, wie litellm ihn schreibt: Anbieter, Schrägstrich, Modell, zum Beispiel anthropic/…, openai/… oder ollama/…. Der Schlüssel wird aus der Umgebung gelesen.</translation>
    </message>
    <message>
        <source>Name of the model</source>
        <translation>Name des Modells</translation>
    </message>
    <message>
        <source>Use this model</source>
        <translation>Dieses Modell verwenden</translation>
    </message>
</context>
<context>
    <name>ModelPicker</name>
    <message>
        <source>Another model…</source>
        <translation>Anderes Modell…</translation>
    </message>
    <message>
        <source>{model} · loading…</source>
        <translation>{model} · wird geladen…</translation>
    </message>
    <message>
        <source>The model that answers: {model}</source>
        <translation>Das Modell, das antwortet: {model}</translation>
    </message>
</context>
<context>
    <name>NoticeBar</name>
    <message>
        <source>Start again</source>
        <translation>Neu starten</translation>
    </message>
    <message>
        <source>Continue in a new chat</source>
        <translation>In einem neuen Chat fortsetzen</translation>
    </message>
    <message>
        <source>Export…</source>
        <translation>Exportieren…</translation>
    </message>
    <message>
        <source>Dismiss</source>
        <translation>Schließen</translation>
    </message>
</context>
<context>
    <name>Notices</name>
    <message>
        <source>The engine is starting…</source>
        <translation>Die Engine startet…</translation>
    </message>
    <message>
        <source>It is being started again.</source>
        <translation>Sie wird neu gestartet.</translation>
    </message>
    <message>
        <source>It was not started again.</source>
        <translation>Sie wurde nicht neu gestartet.</translation>
    </message>
</context>
<context>
    <name>PassageOpener</name>
    <message>
        <source>The engine does not answer, which knows where the file is.</source>
        <translation>Die Engine, die weiß, wo die Datei liegt, antwortet nicht.</translation>
    </message>
    <message>
        <source>Looking for the file…</source>
        <translation>Die Datei wird gesucht…</translation>
    </message>
    <message>
        <source>The engine ended before it found the file.</source>
        <translation>Die Engine endete, bevor sie die Datei fand.</translation>
    </message>
    <message>
        <source>Opened the file at its page {page}.</source>
        <translation>Die Datei ist auf ihrer Seite {page} geöffnet.</translation>
    </message>
    <message>
        <source>No program took the file.</source>
        <translation>Kein Programm hat die Datei angenommen.</translation>
    </message>
    <message>
        <source>Opened the file; go to its page {page}.</source>
        <translation>Die Datei ist geöffnet; bitte zu ihrer Seite {page} gehen.</translation>
    </message>
    <message>
        <source>Opened the file.</source>
        <translation>Die Datei ist geöffnet.</translation>
    </message>
</context>
<context>
    <name>QMenu</name>
    <message>
        <source>Open at the page</source>
        <translation>An der Seite öffnen</translation>
    </message>
    <message>
        <source>Open in Zotero</source>
        <translation>In Zotero öffnen</translation>
    </message>
    <message>
        <source>Open in browser…</source>
        <translation>Im Browser öffnen…</translation>
    </message>
    <message>
        <source>Open</source>
        <translation>Öffnen</translation>
    </message>
    <message>
        <source>This citation leads nowhere.</source>
        <translation>Diese Zitation führt nirgendwohin.</translation>
    </message>
    <message>
        <source>Copy link</source>
        <translation>Link kopieren</translation>
    </message>
    <message>
        <source>Copy citation</source>
        <translation>Zitation kopieren</translation>
    </message>
    <message>
        <source>Copy quoted passage</source>
        <translation>Zitierte Stelle kopieren</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>Kopieren</translation>
    </message>
    <message>
        <source>Select all</source>
        <translation>Alles auswählen</translation>
    </message>
</context>
<context>
    <name>QuestionBox</name>
    <message>
        <source>Enter sends, Shift and Enter begins a new line.</source>
        <translation>Enter sendet, Umschalt und Enter beginnt eine neue Zeile.</translation>
    </message>
</context>
<context>
    <name>QueueBar</name>
    <message>
        <source>Will be sent after this answer</source>
        <translation>Wird nach dieser Antwort gesendet</translation>
    </message>
    <message>
        <source>Edit</source>
        <translation>Bearbeiten</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>Entfernen</translation>
    </message>
    <message>
        <source>Waits until the context is compacted</source>
        <translation>Wartet, bis der Kontext verdichtet ist</translation>
    </message>
    <message>
        <source>Take back</source>
        <translation>Zurückholen</translation>
    </message>
</context>
<context>
    <name>RefusedSummaryDialog</name>
    <message>
        <source>The refused summary</source>
        <translation>Die abgelehnte Zusammenfassung</translation>
    </message>
    <message>
        <source>The summary that was refused</source>
        <translation>Die Zusammenfassung, die abgelehnt wurde</translation>
    </message>
    <message>
        <source>Use it all the same</source>
        <translation>Trotzdem verwenden</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
</context>
<context>
    <name>SessionActions</name>
    <message>
        <source>Un&amp;pin chat</source>
        <translation>Chat nicht mehr an&amp;heften</translation>
    </message>
    <message>
        <source>&amp;Pin chat</source>
        <translation>Chat an&amp;heften</translation>
    </message>
    <message>
        <source>Bring chat b&amp;ack</source>
        <translation>Chat &amp;zurückholen</translation>
    </message>
    <message>
        <source>&amp;Archive chat</source>
        <translation>Chat &amp;archivieren</translation>
    </message>
    <message>
        <source>Reading the branches…</source>
        <translation>Zweige werden gelesen…</translation>
    </message>
</context>
<context>
    <name>SessionDelegate</name>
    <message>
        <source>Title of the chat</source>
        <translation>Titel des Chats</translation>
    </message>
</context>
<context>
    <name>SessionList</name>
    <message>
        <source>Chats</source>
        <translation>Chats</translation>
    </message>
    <message>
        <source>Open</source>
        <translation>Öffnen</translation>
    </message>
    <message>
        <source>Rename</source>
        <translation>Umbenennen</translation>
    </message>
    <message>
        <source>Unpin</source>
        <translation>Nicht mehr anheften</translation>
    </message>
    <message>
        <source>Pin</source>
        <translation>Anheften</translation>
    </message>
    <message>
        <source>Bring back</source>
        <translation>Zurückholen</translation>
    </message>
    <message>
        <source>Archive</source>
        <translation>Archivieren</translation>
    </message>
    <message>
        <source>Export</source>
        <translation>Exportieren</translation>
    </message>
    <message>
        <source>This branch…</source>
        <translation>Diesen Zweig…</translation>
    </message>
    <message>
        <source>The whole tree…</source>
        <translation>Den ganzen Baum…</translation>
    </message>
    <message>
        <source>Delete…</source>
        <translation>Löschen…</translation>
    </message>
</context>
<context>
    <name>SessionListModel</name>
    <message>
        <source>Archived ({count})</source>
        <translation>Archiviert ({count})</translation>
    </message>
    <message>
        <source>Untitled chat</source>
        <translation>Chat ohne Titel</translation>
    </message>
    <message>
        <source>1 question</source>
        <translation>1 Frage</translation>
    </message>
    <message>
        <source>{count} questions</source>
        <translation>{count} Fragen</translation>
    </message>
    <message>
        <source>unfolded</source>
        <translation>ausgeklappt</translation>
    </message>
    <message>
        <source>folded</source>
        <translation>eingeklappt</translation>
    </message>
    <message>
        <source>Fork of “{title}”</source>
        <translation>Abzweig von „{title}“</translation>
    </message>
    <message>
        <source>Fork of a chat that was deleted</source>
        <translation>Abzweig von einem gelöschten Chat</translation>
    </message>
    <message>
        <source>Pinned</source>
        <translation>Angeheftet</translation>
    </message>
    <message>
        <source>Today</source>
        <translation>Heute</translation>
    </message>
    <message>
        <source>Last seven days</source>
        <translation>Letzte sieben Tage</translation>
    </message>
    <message>
        <source>Earlier</source>
        <translation>Früher</translation>
    </message>
</context>
<context>
    <name>ShortcutsDialog</name>
    <message>
        <source>Keyboard shortcuts</source>
        <translation>Tastenkürzel</translation>
    </message>
</context>
<context>
    <name>SidePane</name>
    <message>
        <source>Search chats</source>
        <translation>Chats suchen</translation>
    </message>
    <message>
        <source>New chat</source>
        <translation>Neuer Chat</translation>
    </message>
    <message>
        <source>No chat has this in its title.</source>
        <translation>Kein Chat hat dies im Titel.</translation>
    </message>
    <message>
        <source>In messages</source>
        <translation>In Nachrichten</translation>
    </message>
    <message>
        <source>1 message found</source>
        <translation>1 Nachricht gefunden</translation>
    </message>
    <message>
        <source>{count} messages found</source>
        <translation>{count} Nachrichten gefunden</translation>
    </message>
    <message>
        <source>Searching…</source>
        <translation>Wird gesucht…</translation>
    </message>
    <message>
        <source>No message has this.</source>
        <translation>In keiner Nachricht kommt das vor.</translation>
    </message>
    <message>
        <source>There are more: add a word.</source>
        <translation>Es gibt mehr: ein Wort ergänzen.</translation>
    </message>
</context>
<context>
    <name>StatusLine</name>
    <message>
        <source>Starting…</source>
        <translation>Startet…</translation>
    </message>
    <message>
        <source>Indexing the library</source>
        <translation>Die Bibliothek wird indiziert</translation>
    </message>
</context>
<context>
    <name>StepLine</name>
    <message>
        <source>Shown in full; press to fold.</source>
        <translation>Ganz zu sehen; ein Klick klappt es zu.</translation>
    </message>
    <message>
        <source>Folded; press to show in full.</source>
        <translation>Zugeklappt; ein Klick zeigt es ganz.</translation>
    </message>
</context>
<context>
    <name>Times</name>
    <message>
        <source>d MMM</source>
        <translation>d. MMM</translation>
    </message>
    <message>
        <source>d MMM yyyy</source>
        <translation>d. MMM yyyy</translation>
    </message>
</context>
<context>
    <name>Turns</name>
    <message>
        <source>The engine ended in the middle of this answer. Your question is stored; what was kept of the answer is shown once the engine answers again.</source>
        <translation>Die Engine endete mitten in dieser Antwort. Die Frage ist gespeichert; was von der Antwort erhalten ist, wird gezeigt, sobald die Engine wieder antwortet.</translation>
    </message>
    <message>
        <source>The engine ended before it took this question: send it again.</source>
        <translation>Die Engine endete, bevor sie diese Frage annahm: bitte noch einmal senden.</translation>
    </message>
</context>
<context>
    <name>VersionSwitch</name>
    <message>
        <source>Previous version</source>
        <translation>Vorige Fassung</translation>
    </message>
    <message>
        <source>Next version</source>
        <translation>Nächste Fassung</translation>
    </message>
    <message>
        <source>This is the first version.</source>
        <translation>Dies ist die erste Fassung.</translation>
    </message>
    <message>
        <source>This is the last version.</source>
        <translation>Dies ist die letzte Fassung.</translation>
    </message>
</context>
<context>
    <name>Viewers</name>
    <message>
        <source>The file could not be read in time.</source>
        <translation>Die Datei ließ sich nicht rechtzeitig lesen.</translation>
    </message>
    <message>
        <source>The file lies where this program opens none.</source>
        <translation>Die Datei liegt an einem Ort, von dem dieses Programm keine öffnet.</translation>
    </message>
    <message>
        <source>The file is no PDF or EPUB by its name.</source>
        <translation>Dem Namen nach ist die Datei weder PDF noch EPUB.</translation>
    </message>
    <message>
        <source>There is no file in this place.</source>
        <translation>An diesem Ort ist keine Datei.</translation>
    </message>
    <message>
        <source>The file is not there any more, or cannot be read.</source>
        <translation>Die Datei ist nicht mehr da oder lässt sich nicht lesen.</translation>
    </message>
    <message>
        <source>The file is no PDF or EPUB by what it holds.</source>
        <translation>Dem Inhalt nach ist die Datei weder PDF noch EPUB.</translation>
    </message>
</context>
<context>
    <name>_Remedies</name>
    <message>
        <source>Try again</source>
        <translation>Erneut versuchen</translation>
    </message>
    <message>
        <source>Compact without a model</source>
        <translation>Ohne Modell verdichten</translation>
    </message>
    <message>
        <source>Read the refused summary</source>
        <translation>Die abgelehnte Zusammenfassung lesen</translation>
    </message>
    <message>
        <source>Compact earlier context</source>
        <translation>Früheren Kontext verdichten</translation>
    </message>
    <message>
        <source>Compact and send again</source>
        <translation>Verdichten und erneut senden</translation>
    </message>
</context>
</TS>
